import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isRefName } from '../../src/contract/organizations/ref-name.ts'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { readFilesAt } from '../../src/git/read/read-files.ts'
import { hasCommit, resolveRef } from '../../src/git/read/revisions.ts'
import {
  commitFiles,
  localRepository,
  makeBare,
  makeRepository,
  openGitFixture,
  run,
  runText,
} from './repositories.ts'

test('branches, tags and SHAs are found; any other name is null', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const first = await runText(source, 'git', ['rev-parse', 'HEAD'])
  await runText(source, 'git', ['tag', '-a', 'v1', '-m', 'one'])
  const second = await commitFiles(source, 'second', { 'a.txt': 'a' })
  await runText(source, 'git', ['branch', 'feature/x', first])
  await runText(source, 'git', ['branch', 'both', second])
  await runText(source, 'git', ['tag', 'both', first])
  await runText(source, 'git', ['branch', first.slice(0, 8), second])
  await runText(source, 'git', ['tag', 'a-tree', 'HEAD^{tree}'])
  const repo = localRepository(source)
  expect(await resolveRef(fixture.host, repo.id, 'main')).toBeNull()
  await refreshMirror(fixture.host, repo)
  const find = (ref: string | null) => resolveRef(fixture.host, repo.id, ref)

  expect(await find(null)).toEqual({ kind: 'branch', ref: 'main', sha: second })
  expect(await find('feature/x')).toEqual({ kind: 'branch', ref: 'feature/x', sha: first })
  expect(await find('refs/heads/feature/x')).toEqual({ kind: 'branch', ref: 'feature/x', sha: first })
  expect(await find('v1')).toEqual({ kind: 'tag', ref: 'v1', sha: first })
  expect(await find('refs/tags/v1')).toEqual({ kind: 'tag', ref: 'refs/tags/v1', sha: first })
  expect(await find('both')).toEqual({ kind: 'branch', ref: 'both', sha: second })
  expect(await find('refs/tags/both')).toEqual({ kind: 'tag', ref: 'refs/tags/both', sha: first })
  expect(await find(second)).toEqual({ kind: 'commit', ref: second, sha: second })
  expect(await find(second.toUpperCase())).toEqual({ kind: 'commit', ref: second, sha: second })
  expect(await find(second.slice(0, 7))).toEqual({ kind: 'commit', ref: second, sha: second })
  expect(await find(first.slice(0, 8))).toEqual({ kind: 'branch', ref: first.slice(0, 8), sha: second })
  expect(await hasCommit(fixture.host, repo.id, first)).toBe(true)
  expect(await hasCommit(fixture.host, repo.id, 'f'.repeat(40))).toBe(false)
  const tree = await runText(source, 'git', ['rev-parse', 'HEAD^{tree}'])
  for (const no of [
    'nope',
    '',
    ' ',
    '-main',
    '--all',
    'main~1',
    'main^',
    'main^{commit}',
    'HEAD',
    '@',
    '@{-1}',
    ':/second',
    'main:a.txt',
    'a..b',
    'main\n',
    'main\nboth',
    'x'.repeat(300),
    'a-tree',
    tree,
    'f'.repeat(40),
    second.slice(0, 6),
    'refs/agentrun/1/1',
  ])
    expect(await find(no), no).toBeNull()
})

test('the default branch is the one that the remote names, and follows it', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  await runText(source, 'git', ['branch', '-m', 'main', 'trunk'])
  await runText(source, 'git', ['branch', 'main'])
  const repo = localRepository(source)
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ default_branch: 'trunk' })
  await runText(source, 'git', ['symbolic-ref', 'HEAD', 'refs/heads/main'])
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ default_branch: 'main' })
  expect(await resolveRef(fixture.host, repo.id, null)).toMatchObject({ ref: 'main' })
})

test('a repository without a commit is empty until the first one', async () => {
  await using fixture = await openGitFixture()
  const bare = await makeBare(join(fixture.dir, 'remote.git'))
  const repo = localRepository(bare)
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ empty: true, default_branch: null })
  expect(await resolveRef(fixture.host, repo.id, null)).toEqual({ empty: true })
  expect(await resolveRef(fixture.host, repo.id, 'main')).toEqual({ empty: true })
  const source = await makeRepository(join(fixture.dir, 'source'))
  await runText(source, 'git', ['push', '-q', bare, 'main'])
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({
    empty: false,
    default_branch: 'main',
    changed: true,
  })
})

test('files of a commit are read, links within the tree followed, long ones cut', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'), {
    'CLAUDE.md': 'be kind\n',
    'long.txt': 'x'.repeat(300_000),
    'dir/a.txt': 'a',
    empty: '',
  })
  await symlink('CLAUDE.md', join(source, 'AGENTS.md'))
  await symlink('/etc/passwd', join(source, 'outside'))
  await symlink('loop', join(source, 'loop'))
  const sha = await commitFiles(source, 'links', {})
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const wanted = [
    'nope',
    'long.txt',
    'AGENTS.md',
    'outside',
    'loop',
    'dir',
    'CLAUDE.md/x',
    'long.txt',
    'empty',
    'dir/a.txt',
    'a\nb',
    '../x',
    '',
  ]
  const found = await readFilesAt(fixture.host, repo.id, sha, wanted, 1_000)
  expect([...found.keys()].sort()).toEqual(['AGENTS.md', 'dir/a.txt', 'empty', 'long.txt'])
  expect(found.get('AGENTS.md')).toEqual({ bytes: Buffer.from('be kind\n'), size: 8, truncated: false })
  expect(found.get('long.txt')).toEqual({ bytes: Buffer.alloc(1_000, 'x'), size: 300_000, truncated: true })
  expect(found.get('empty')).toEqual({ bytes: Buffer.alloc(0), size: 0, truncated: false })
  await expect(readFilesAt(fixture.host, repo.id, 'main', ['CLAUDE.md'], 10)).rejects.toMatchObject({
    code: 'failed',
  })
  expect((await readFilesAt(fixture.host, repo.id, 'f'.repeat(40), ['CLAUDE.md'], 10)).size).toBe(0)
})

test('names are validated like in git', async () => {
  const names = [
    'main',
    'a/b',
    'a.b',
    'ä',
    'a@b',
    '@a',
    'a-',
    '.a',
    'a/.b',
    'a.',
    'a..b',
    'a.lock',
    'a.lock/b',
    'a/',
    '/a',
    'a//b',
    'a b',
    'a~',
    'a^',
    'a:',
    'a?',
    'a*',
    'a[',
    'a\\b',
    'a@{b',
    '@',
    'a\x7f',
    'a\tb',
    '{',
    'a}b',
    "a'b",
    'a"b',
    'a$(b)',
    'lock',
  ]
  for (const name of names) {
    const taken = await run('/', 'git', ['check-ref-format', `refs/heads/${name}`]).then(
      () => true,
      () => false,
    )
    expect(isRefName(name), name).toBe(name === '@' ? false : taken)
  }
})
