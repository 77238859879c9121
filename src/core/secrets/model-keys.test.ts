import { expect, test } from 'vitest'
import { secretName } from '../../contract/organizations/secrets.ts'
import { mayBeVariable } from '../sandbox-environment.ts'
import { modelKeyName } from './model-keys.ts'

test('keys of models have names of secrets, each its own, and are never variables of a sandbox', () => {
  const names = ['anthropic', 'openai-compatible', 'a/b-c', 'a/b_c', 'a/B-C', `a/${'x'.repeat(200)}`].map(
    modelKeyName,
  )
  expect(new Set(names).size).toBe(names.length)
  for (const name of names)
    expect([name, secretName().safeParse(name).success, mayBeVariable(name)]).toEqual([name, true, false])
})
