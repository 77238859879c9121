import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRefName } from '../../contract/organizations/ref-name.ts'
import { branchName, flatBranch, foldersOf, isRunBranch } from './branch-name.ts'

const named = (title: string, earlier = 0, prefix: string | null = null) =>
  branchName({ id: 7, title, prefix, earlier })

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
])('%j → %s', (text, branch) => expect(named(text)).toBe(branch))

test('a run with abandoned branches gets a name that none of them had', () => {
  expect(named('Fix the login', 1)).toBe('agent/run-7-fix-the-login-2')
  expect(named('', 2)).toBe('agent/run-7-task-3')
})

test('every text gives a valid name with a slug of at most 40 plain characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.integer({ min: 1 }), (text, id) => {
      const branch = branchName({ id, title: text, prefix: null })
      expect(isRefName(branch)).toBe(true)
      expect(branch).toMatch(/^agent\/run-\d+-[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/)
    }),
  )
})

test('a prefix replaces the default one, and the name stays one of a run', () => {
  for (const prefix of ['feature/', 'bots/agent-', 'x_', 'feature/agent/']) {
    const branch = named('Fix it', 0, prefix)
    expect(branch).toBe(`${prefix}run-7-fix-it`)
    expect(isRunBranch(branch)).toBe(true)
    expect(isRunBranch(flatBranch(branch))).toBe(true)
  }
  for (const name of ['main', 'feature/login', 'prerun-7-x', 'agent/run-0-x', 'agent/run-7-', 'run-x-7'])
    expect(isRunBranch(name)).toBe(false)
})

test('a name without folders replaces one whose folders are branches', () => {
  expect(foldersOf('a/b/run-7-x')).toEqual(['a', 'a/b'])
  expect(foldersOf('run-7-x')).toEqual([])
  expect(flatBranch('a/b/run-7-x')).toBe('a-b-run-7-x')
})
