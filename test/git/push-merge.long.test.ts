import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findMerge, isAncestor } from '../../src/git/publish/merge.ts'
import { pushMerge } from '../../src/git/publish/push.ts'
import { made, type Ready, ready } from './ready-merge.ts'
import { addHook, run, runText } from './repositories.ts'

describe('findMerge', () => {
  const find = (set: Ready, input: { base_sha: string; head_sha: string }, attempts: string[] = []) =>
    findMerge(set.fixture.host, set.repo.id, {
      base_sha: input.base_sha,
      head_shas: [input.head_sha],
      attempts,
    })

  test('nothing was merged: null, and a commit that the mirror never had is not an ancestor', async () => {
    await using set = await ready()
    await set.put('topic', { 'a.txt': 'A\n' })
    const heads = await set.fetch()
    expect(await find(set, heads, ['1'.repeat(40)])).toBe(null)
    expect(await find(set, { ...heads, head_sha: '1'.repeat(40) })).toBe(null)
    const head_shas = [heads.base_sha, heads.head_sha]
    expect(
      await findMerge(set.fixture.host, set.repo.id, { base_sha: heads.base_sha, head_shas, attempts: [] }),
    ).toBe(null)
    expect(await isAncestor(set.fixture.host, set.repo.id, heads.base_sha, heads.head_sha)).toBe(true)
    expect(await isAncestor(set.fixture.host, set.repo.id, heads.head_sha, heads.base_sha)).toBe(false)
  })

  test('an attempt that arrived is found as the merge, also a squash, and also after later commits', async () => {
    await using set = await ready()
    await set.put('topic', { 'a.txt': 'A\n' })
    const { base_sha } = await set.fetch()
    const squash = made(await set.merge({ method: 'squash' }))
    const never = made(await set.merge({ message: 'never pushed\n' }))
    await pushMerge(set.fixture.host, set.repo, { sha: squash, branch: 'main', base_sha })
    await run(set.work, 'git', ['fetch', '-q', 'origin'])
    await run(set.work, 'git', ['branch', '-f', 'main', 'origin/main'])
    await set.put('main', { 'c.txt': 'later\n' })
    expect(await find(set, await set.fetch(), [never, squash])).toBe(squash)
  })

  test('a manual merge is found by its commit, a fast-forward by the head', async () => {
    await using set = await ready()
    const head = await set.put('topic', { 'a.txt': 'A\n' })
    await run(set.work, 'git', ['checkout', '-q', 'main'])
    await run(set.work, 'git', ['merge', '-q', '--no-ff', '-m', 'manual', 'topic'])
    const by_hand = await runText(set.work, 'git', ['rev-parse', 'HEAD'])
    await set.put('main', { 'c.txt': 'later\n' })
    expect(await find(set, await set.fetch())).toBe(by_hand)

    const quick = await set.put('quick', { 'd.txt': 'd\n' })
    await run(set.work, 'git', ['push', '-q', 'origin', 'quick:main'])
    expect(await find(set, await set.fetch('quick'))).toBe(quick)
    await run(set.work, 'git', ['checkout', '-q', '-B', 'main', 'quick'])
    await set.put('main', { 'e.txt': 'e\n' })
    expect(await find(set, await set.fetch('quick'))).toBe(quick)
    expect(await find(set, { ...(await set.fetch()), head_sha: head })).toBe(by_hand)
  })
})

describe('pushMerge', () => {
  test('one branch of the remote moves, from where it was expected, and every other ref stays', async () => {
    await using set = await ready()
    await set.put('topic', { 'a.txt': 'A\n' })
    const { base_sha } = await set.fetch()
    const refs = await set.git('for-each-ref')
    const sha = made(await set.merge())
    expect(await pushMerge(set.fixture.host, set.repo, { sha, branch: 'main', base_sha })).toEqual({
      kind: 'pushed',
    })
    expect(await set.git('for-each-ref')).toBe(
      refs.replace(`${base_sha} commit\trefs/heads/main`, `${sha} commit\trefs/heads/main`),
    )
    await set.git('fsck', '--strict')
  })

  test('a base that moved on, was reset or is gone has moved: nothing is pushed and nothing dropped', async () => {
    await using set = await ready()
    await set.put('main', { 'b.txt': 'second\n' })
    await set.put('topic', { 'a.txt': 'A\n' })
    const { base_sha } = await set.fetch()
    const merge = { sha: made(await set.merge()), branch: 'main', base_sha }
    const push = () => pushMerge(set.fixture.host, set.repo, merge)
    const later = await set.put('main', { 'b.txt': 'third\n' })
    expect(await push()).toEqual({ kind: 'moved' })
    expect(await set.git('rev-parse', 'main')).toBe(later)
    await set.git('update-ref', 'refs/heads/main', `${base_sha}~1`)
    expect(await push()).toEqual({ kind: 'moved' })
    expect(await set.git('rev-parse', 'main')).toBe(await set.git('rev-parse', `${base_sha}~1`))
    await set.git('update-ref', '-d', 'refs/heads/main')
    expect(await push()).toEqual({ kind: 'moved' })
  })

  test('a base that moves while the push is under way has moved', async () => {
    await using set = await ready()
    const other = await set.put('other', { 'b.txt': 'other\n' })
    await set.put('topic', { 'a.txt': 'A\n' })
    const { base_sha } = await set.fetch()
    await addHook(
      set.remote,
      'pre-receive',
      `unset GIT_QUARANTINE_PATH; git update-ref refs/heads/main ${other}`,
    )
    const push = pushMerge(set.fixture.host, set.repo, {
      sha: made(await set.merge()),
      branch: 'main',
      base_sha,
    })
    expect(await push).toEqual({ kind: 'moved' })
    expect(await set.git('rev-parse', 'main')).toBe(other)
  })

  test('a refusing hook, and a branch that is checked out, are rejected with the message of the remote', async () => {
    await using set = await ready()
    await set.put('topic', { 'a.txt': 'A\n' })
    const { base_sha } = await set.fetch()
    const merge = { sha: made(await set.merge()), branch: 'main', base_sha }
    await addHook(set.remote, 'pre-receive', 'echo "main is frozen" >&2; exit 1')
    expect(await pushMerge(set.fixture.host, set.repo, merge)).toEqual({
      kind: 'rejected',
      message: 'the remote refused the branch: [remote rejected] (pre-receive hook declined)\nmain is frozen',
    })
    await run(set.work, 'git', ['checkout', '-q', 'main'])
    const checked_out = { ...set.repo, url: set.work }
    expect(await pushMerge(set.fixture.host, checked_out, merge)).toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('branch is currently checked out'),
    })
    expect(await runText(set.work, 'git', ['rev-parse', 'main'])).toBe(base_sha)
  })

  test('refuses invalid branch names', async () => {
    await using set = await ready()
    const sha = await set.git('rev-parse', 'main')
    await mkdir(join(set.fixture.dir, 'x'))
    for (const branch of ['--force', 'a b', 'main:refs/heads/other', ''])
      await expect(
        pushMerge(set.fixture.host, set.repo, { sha, branch, base_sha: sha }),
      ).rejects.toMatchObject({ name: 'GitError' })
  })
})
