import { expect, test } from 'vitest'
import { type Environment, environmentDigest } from './environment-digest.ts'

const one: Environment = {
  commands: ['a', 'b'],
  variables: { X: '1', Y: '2' },
  lockfiles: { 'a.lock': '1', 'b.lock': '2' },
  toolchain: { node: '24' },
}

test('an environment has one digest in whatever order its names stand, and another for anything else', () => {
  expect(environmentDigest({ ...one, variables: { Y: '2', X: '1' }, lockfiles: { 'b.lock': '2', 'a.lock': '1' } })).toBe(
    environmentDigest(one),
  )
  const others: Environment[] = [
    { ...one, commands: ['b', 'a'] },
    { ...one, variables: { X: '1' } },
    { ...one, lockfiles: { 'a.lock': '1', 'b.lock': '3' } },
    { ...one, base_sha: 'a' },
    { ...one, toolchain: { node: '25' } },
  ]
  expect(new Set([one, ...others].map(environmentDigest)).size).toBe(6)
  expect(environmentDigest(one)).toMatch(/^[0-9a-f]{64}$/)
})
