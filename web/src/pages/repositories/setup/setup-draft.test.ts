import { expect, test } from 'vitest'
import { bodyOf, draftOf, problemOf } from './setup-draft.ts'

const saved = {
  commands: ['npm ci', 'cat <<E\ntwo lines\nE'],
  maintenance_commands: ['npm run build'],
  variables: { NODE_ENV: 'test', EMPTY: '' },
  on_failure: 'continue' as const,
  timeout_seconds: 60,
  updated_at: null,
  updated_by: null,
}

test('settings that were not changed are sent as they were', () => {
  const { updated_at: _at, updated_by: _by, ...settings } = saved
  expect(bodyOf(draftOf(saved))).toEqual(settings)
  expect(problemOf(draftOf(saved))).toBeNull()
})

test('rows that were left empty are not sent, and an empty value of a named variable is', () => {
  const draft = {
    ...draftOf(saved),
    commands: ['', 'make', ' '],
    variables: [
      { name: '', value: '' },
      { name: ' A ', value: '' },
    ],
  }
  expect(bodyOf(draft)).toMatchObject({ commands: ['make'], variables: { A: '' } })
})

test('variables without a name, or with the name of another one, would be lost and are not sent', () => {
  const withVariables = (...names: string[]) => ({
    ...draftOf(saved),
    variables: names.map(name => ({ name, value: '1' })),
  })
  expect(problemOf(withVariables('A', ''))).toBe('Each variable needs a name')
  expect(problemOf(withVariables('A', 'B', ' A'))).toBe('Two variables have the same name')
})
