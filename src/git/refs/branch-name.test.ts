import fc from 'fast-check'
import { expect, test } from 'vitest'
import { branchName } from './branch-name.ts'
import { isRefName } from './ref-name.ts'

test.each([
  ['Fix the login', 'agent/run-7-fix-the-login'],
  ["Don't retry — ever!", 'agent/run-7-dont-retry-ever'],
  ['Überprüfe das Café', 'agent/run-7-uberprufe-das-cafe'],
  ['修复登录', 'agent/run-7-task'],
  ['', 'agent/run-7-task'],
  ['../../main.lock', 'agent/run-7-main-lock'],
  ['a'.repeat(60), `agent/run-7-${'a'.repeat(40)}`],
  ['one two three four five six seven eight nine ten', 'agent/run-7-one-two-three-four-five-six-seven-eight'],
  ['exactly-forty-characters-are-here-in-this and more', 'agent/run-7-exactly-forty-characters-are-here-in'],
])('%j → %s', (text, branch) => expect(branchName(7, text)).toBe(branch))

test('a run with abandoned branches gets a name that none of them had', () => {
  expect(branchName(7, 'Fix the login', 1)).toBe('agent/run-7-fix-the-login-2')
  expect(branchName(7, '', 2)).toBe('agent/run-7-task-3')
})

test('every text gives a valid name with a slug of at most 40 plain characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.integer({ min: 1 }), (text, id) => {
      const branch = branchName(id, text)
      expect(isRefName(branch)).toBe(true)
      expect(branch).toMatch(/^agent\/run-\d+-[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/)
    }),
  )
})
