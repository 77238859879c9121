import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localFingerprint } from '../../src/git/mirrors/local-fingerprint.ts'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { resolveRef } from '../../src/git/read/revisions.ts'
import { commitFiles, localRepository, makeRepository, openGitFixture, runText } from './repositories.ts'

test('a fingerprint changes with each move of a ref, and with nothing else', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const moves: [command: string, changes: boolean][] = [
    ['git status', false],
    ['echo x > untracked', false],
    ['git add untracked', false],
    ['git commit -qm x', true],
    ['git log', false],
    ['git commit -q --amend -m y', true],
    ['git branch dir/b', true],
    ['git tag v1', true],
    ['git checkout -q dir/b', true],
    ['git pack-refs --all', true],
    ['git branch -D main', true],
    ['git symbolic-ref HEAD refs/heads/dir/b', true],
  ]
  for (const [command, changes] of moves) {
    const before = localFingerprint(source)
    await runText(source, 'sh', ['-c', command])
    if (changes) expect(localFingerprint(source), command).not.toBe(before)
    else expect(localFingerprint(source), command).toBe(before)
  }
})

test('an unreadable repository has none', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  await runText(source, 'git', ['worktree', 'add', '-q', join(fixture.dir, 'tree')])
  expect(localFingerprint(join(fixture.dir, 'tree'))).toBeNull()
  expect(localFingerprint(join(fixture.dir, 'missing'))).toBeNull()
  expect(localFingerprint(fixture.dir)).toBeNull()
})

test('a branch is found at the newest commit after any series of quick moves', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const repo = localRepository(source)
  for (let i = 0; i < 12; i++) {
    const sha = await commitFiles(source, `commit ${i}`, { file: String(i) })
    if (i % 4 === 3) await runText(source, 'git', ['pack-refs', '--all'])
    await refreshMirror(fixture.host, repo)
    expect(await resolveRef(fixture.host, repo.id, 'main')).toEqual({ kind: 'branch', ref: 'main', sha })
  }
})
