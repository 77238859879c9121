import { expect, test } from 'vitest'
import { type CommitContents, evaluateCommits } from './commit-findings.ts'

const nothing: CommitContents = {
  commits: [],
  files: [],
  blobs: [],
  conflicts: [],
  secrets: [],
  gaps: [],
  approvals: new Map(),
}
const codes = (brought: Partial<CommitContents>) => {
  const { verdict, findings } = evaluateCommits({ ...nothing, ...brought })
  return [
    verdict,
    ...findings.map(({ severity, code, path, line }) =>
      [severity, code, path, line].filter(part => part !== null).join(' '),
    ),
  ]
}
const added = (...paths: string[]) => ({ files: paths.map(path => ({ path, status: 'added' })) })

test('a commit without findings passes', () => {
  expect(codes({})).toEqual(['pass'])
  expect(codes(added('README.md', 'src/a.ts', 'src/a.test.ts'))).toEqual(['pass'])
  expect(
    codes({ commits: [{ sha: 'a', message: 'invoice: count from one\n\nBecause.', files: [] }] }),
  ).toEqual(['pass'])
})

test('the value of a secret fails, in a file or in the message of a commit', () => {
  expect(
    codes({
      secrets: [
        { path: 'a', names: ['KEY'] },
        { path: null, names: ['KEY'] },
      ],
    }),
  ).toEqual([...['fail', 'error secret_in_commit a', 'error secret_in_commit']])
})

test('a conflict that was not resolved fails with its line', () => {
  expect(codes({ conflicts: [{ path: 'a.md', line: 11 }] })).toEqual([
    'fail',
    'error conflict_marker a.md 11',
  ])
})

test('content instead of a pointer of Git LFS fails, and so does a change that is not in the commit, unless nothing can commit it', () => {
  expect(codes({ gaps: [{ kind: 'submodule', path: 'lib' }] })).toEqual([
    'pass',
    'warning change_not_committed lib',
  ])
  for (const kind of ['flagged', 'unreadable'] as const)
    expect(codes({ gaps: [{ kind, path: 'a' }] })).toEqual(['fail', 'error change_not_committed a'])
  expect(codes({ gaps: [{ kind: 'lfs', path: 'a.png' }] })).toEqual(['fail', 'error lfs_content a.png'])
})

test('generated files of tools fail when they are added, possible build output is reported, and neither when it existed before', () => {
  expect(codes(added('web/node_modules/a/index.js', 'a/__pycache__/b.txt', 'x.pyc', '.DS_Store'))[0]).toBe(
    'fail',
  )
  expect(codes(added('dist/app.js', 'run.log'))).toEqual([
    'pass',
    'warning generated_file dist/app.js',
    'warning generated_file run.log',
    'info tests_untouched',
  ])
  expect(codes({ files: [{ path: 'node_modules/a/index.js', status: 'modified' }] })).toEqual([
    'pass',
    'info tests_untouched',
  ])
})

test('a file is reported from 1 MiB on and fails from 10 MiB on, whichever commit has it', () => {
  const mib = 1024 ** 2
  const blobs = [
    { path: 'a', bytes: 2 * mib },
    { path: 'b', bytes: 11 * mib },
    { path: 'b', bytes: 1 },
    { path: 'c', bytes: mib },
  ]
  expect(codes({ blobs })).toEqual(['fail', 'error file_too_large b', 'warning file_too_large a'])
})

test('a renamed file no longer has its old path', () => {
  const approvals = new Map([
    ['.github/workflows/audit.yml', { code: 'ci_workflow_changed' as const, body: '' }],
  ])
  const renamed = (old_path: string, path: string, status = 'renamed') =>
    codes({ files: [{ path, old_path, status }], approvals })
  expect(renamed('.github/workflows/audit.yml', 'docs/audit.yml')).toEqual([
    'pass',
    'warning ci_workflow_changed .github/workflows/audit.yml',
  ])
  expect(renamed('.github/workflows/audit.yml', 'docs/audit.yml', 'copied')).toEqual(['pass'])
  expect(renamed('test/a.test.js', 'docs/a.txt')).toEqual(['pass', 'warning test_removed test/a.test.js'])
  expect(renamed('test/a.test.js', 'test/b.test.js')).toEqual(['pass'])
})

test('deleted or missing tests are reported, and so are meaningless commit messages', () => {
  expect(
    codes({
      files: [
        { path: 'test/a.py', status: 'deleted' },
        { path: 'src/a.py', status: 'modified' },
      ],
    }),
  ).toEqual([...['pass', 'warning test_removed test/a.py', 'info tests_untouched']])
  for (const path of ['a_test.go', 'test_a.py', 'a.spec.ts', 'src/FooTest.java', 'spec/a.rb'])
    expect(
      codes({
        files: [
          { path, status: 'modified' },
          { path: 'src/a.go', status: 'modified' },
        ],
      }),
    ).toEqual(['pass'])
  for (const message of ['wip', 'Fix', '', '...'])
    expect(codes({ commits: [{ sha: 'a', message, files: [] }] })).toEqual(['pass', 'info message_unclear'])
  for (const message of ['修复计数器', 'Счёт до двух'])
    expect(codes({ commits: [{ sha: 'a', message, files: [] }] })).toEqual(['pass'])
})
