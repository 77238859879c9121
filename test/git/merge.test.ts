import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { mirrorPath } from '../../src/git/process/git-host.ts'
import { fetchBranches } from '../../src/git/publish/merge.ts'
import { tryMerge } from '../../src/git/publish/mergeable.ts'
import { author, made, ready } from './ready-merge.ts'
import { commitFiles, run, runText } from './repositories.ts'

describe('fetchBranches', () => {
  test('reports the current heads on the remote, though the mirror is older', async () => {
    await using set = await ready()
    const head_sha = await set.put('topic', { 'a.txt': 'A\n' })
    const base_sha = await set.put('main', { 'b.txt': 'B\n' })
    expect(await set.fetch()).toEqual({ base_sha, head_sha })
  })

  test('does not trust a fetch that began before', async () => {
    await using set = await ready()
    const { flights } = set.fixture.host
    const old = await refreshMirror(set.fixture.host, set.repo)
    const early = Promise.withResolvers<typeof old>()
    flights.set(set.repo.id, {
      started_at: Date.now(),
      refreshed: early.promise.finally(() => flights.delete(set.repo.id)),
    })
    const head_sha = await set.put('topic', { 'a.txt': 'A\n' })
    const requested = set.fetch()
    early.resolve(old)
    expect(await requested).toMatchObject({ head_sha })
  })

  test('a missing branch, a deleted one, a tag and an invalid name are null', async () => {
    await using set = await ready()
    await set.put('topic', { 'a.txt': 'A\n' })
    await set.git('tag', 'release', 'main')
    for (const head of ['gone', 'release', '--upload-pack=x', 'a b', 'main..topic', '0'.repeat(40)])
      expect(await fetchBranches(set.fixture.host, set.repo, { base: 'main', head }, 30_000)).toMatchObject({
        head_sha: null,
      })
    await set.git('branch', '-D', 'topic')
    expect(
      await fetchBranches(set.fixture.host, set.repo, { base: 'main', head: 'topic' }, 30_000),
    ).toMatchObject({ head_sha: null })
  })

  test('a remote that is away is a GitError', async () => {
    await using set = await ready()
    await run(set.fixture.dir, 'mv', [set.remote, `${set.remote}.away`])
    await expect(set.fetch()).rejects.toMatchObject({ name: 'GitError', code: 'not_found' })
  })
})

describe('createMerge', () => {
  test('two sides of one history: a commit of both, with both as parents, the message as it is and the author', async () => {
    await using set = await ready()
    await set.put('topic', { 'a.txt': 'A\n', 'neu/ä\nnewline.txt': 'x\n' })
    await set.put('main', { 'b.txt': 'B\n' })
    const { base_sha, head_sha } = await set.fetch()
    const message = "Merge branch 'topic'\n\nWörter: `$(x)` 'y'\n# not a comment\n"
    const sha = made(await set.merge({ message }))
    const mirror = mirrorPath(set.fixture.host, set.repo.id)
    const show = (format: string) => runText(mirror, 'git', ['log', '-1', `--format=${format}`, sha])
    expect(await show('%P')).toBe(`${base_sha} ${head_sha}`)
    expect(await show('%an <%ae> %cn <%ce>')).toBe(
      `${author.name} <${author.email}> ${author.name} <${author.email}>`,
    )
    expect(`${await show('%B')}\n`).toBe(message)
    expect(
      (await runText(mirror, 'git', ['ls-tree', '-r', '-z', '--name-only', sha])).split('\0').filter(Boolean),
    ).toEqual(['a.txt', 'b.txt', 'neu/ä\nnewline.txt'])
    expect(await runText(mirror, 'git', ['show', `${sha}:a.txt`])).toBe('A')
    expect(await runText(mirror, 'git', ['show', `${sha}:b.txt`])).toBe('B')
  })

  test('a merge commit is created even if a fast-forward is possible', async () => {
    await using set = await ready()
    await set.put('topic', { 'a.txt': 'A\n' })
    const { base_sha, head_sha } = await set.fetch()
    const sha = made(await set.merge())
    const mirror = mirrorPath(set.fixture.host, set.repo.id)
    expect(await runText(mirror, 'git', ['log', '-1', '--format=%P', sha])).toBe(`${base_sha} ${head_sha}`)
    expect(await runText(mirror, 'git', ['diff', head_sha, sha])).toBe('')
  })

  test('squash: one commit on the base with all of the change', async () => {
    await using set = await ready()
    await set.put('topic', { 'a.txt': 'A\n' })
    await set.put('topic', { 'c.txt': 'c\n' })
    const { base_sha } = await set.fetch()
    const sha = made(await set.merge({ method: 'squash' }))
    const mirror = mirrorPath(set.fixture.host, set.repo.id)
    expect(await runText(mirror, 'git', ['log', '-1', '--format=%P', sha])).toBe(base_sha)
    expect(await runText(mirror, 'git', ['diff', '--name-only', base_sha, sha])).toBe('a.txt\nc.txt')
  })

  test('squash of changes that the base already has creates no empty commit', async () => {
    await using set = await ready()
    await set.put('topic', { 'a.txt': 'A\n' })
    await set.put('main', { 'a.txt': 'A\n' })
    expect(await set.merge({ method: 'squash' })).toEqual({ kind: 'nothing' })
    expect(await set.merge()).toMatchObject({ kind: 'made' })
  })

  test('a head that the base already contains is nothing to merge', async () => {
    await using set = await ready()
    await set.put('topic', { 'a.txt': 'A\n' })
    await run(set.work, 'git', ['push', '-q', 'origin', 'topic:main'])
    expect(await set.merge()).toEqual({ kind: 'nothing' })
  })

  test('a conflict names every file, newlines and bytes that are not UTF-8 included, and writes no commit', async () => {
    await using set = await ready()
    const latin = Buffer.concat([Buffer.from(`${set.work}/caf`), Buffer.from([0xe9])])
    for (const [branch, text] of [
      ['topic', 'theirs\n'],
      ['main', 'ours\n'],
    ] as const) {
      await run(
        set.work,
        'git',
        branch === 'main' ? ['checkout', '-q', 'main'] : ['checkout', '-q', '-b', branch],
      )
      await writeFile(latin, text)
      await set.put(branch, { 'a.txt': text, 'two\nlines\t"quoted".txt': text, [`only-${branch}`]: text })
    }
    expect(await set.merge()).toEqual({
      kind: 'conflict',
      files: ['a.txt', '"caf\\351"', 'two\nlines\t"quoted".txt'],
    })
  })

  test('a file that one side deleted and the other changed is a conflict too', async () => {
    await using set = await ready()
    await run(set.work, 'git', ['checkout', '-q', '-b', 'topic'])
    await run(set.work, 'git', ['rm', '-q', 'a.txt'])
    await set.put('topic', {})
    await set.put('main', { 'a.txt': 'changed\n' })
    expect(await set.merge()).toEqual({ kind: 'conflict', files: ['a.txt'] })
  })

  test('branches without a common commit are refused with a message', async () => {
    await using set = await ready()
    await run(set.work, 'git', ['checkout', '-q', '--orphan', 'topic'])
    await commitFiles(set.work, 'elsewhere', { z: 'z' })
    await run(set.work, 'git', ['push', '-q', 'origin', 'topic'])
    expect(await set.merge()).toEqual({
      kind: 'refused',
      message: 'the two branches have no commit in common',
    })
  })

  test('attributes and configuration that a branch brings run no program on the host', async () => {
    await using set = await ready()
    const trap = join(set.fixture.dir, 'trapped')
    const attributes = {
      '.gitattributes': '* merge=trap filter=trap diff=trap\n',
      '.gitconfig': `[merge "trap"]\n\tdriver = touch ${trap}\n`,
    }
    await set.put('topic', { ...attributes, 'a.txt': 'theirs\n' })
    await set.put('main', { ...attributes, 'a.txt': 'ours\n' })
    expect(await set.merge()).toEqual({ kind: 'conflict', files: ['a.txt'] })
    expect(await readdir(set.fixture.dir)).not.toContain('trapped')
  })
})

describe('tryMerge', () => {
  test('clean or conflict by the mirror alone, and nothing is left behind', async () => {
    await using set = await ready()
    const clean = await set.put('topic', { 'a.txt': 'A\n' })
    const clash = await set.put('clash', { 'b.txt': 'theirs\n' })
    await set.put('main', { 'b.txt': 'B\n' })
    await set.fetch()
    const mirror = mirrorPath(set.fixture.host, set.repo.id)
    const before = await readdir(mirror, { recursive: true })
    await run(set.fixture.dir, 'mv', [set.remote, `${set.remote}.away`])
    expect(await tryMerge(set.fixture.host, set.repo.id, 'main', clean)).toBe('clean')
    expect(await tryMerge(set.fixture.host, set.repo.id, 'main', clash)).toBe('conflict')
    expect((await readdir(mirror, { recursive: true })).sort()).toEqual(before.sort())
  })

  test('missing information in the mirror is unknown: no mirror, no such branch, no such commit', async () => {
    await using set = await ready()
    const base_sha = await set.git('rev-parse', 'main')
    expect(await tryMerge(set.fixture.host, 424_242, 'main', base_sha)).toBe('unknown')
    expect(await tryMerge(set.fixture.host, set.repo.id, 'gone', base_sha)).toBe('unknown')
    expect(await tryMerge(set.fixture.host, set.repo.id, 'main', '1'.repeat(40))).toBe('unknown')
  })

  test('an unknown result is checked again, and parallel requests get the same response', async () => {
    await using set = await ready()
    const head = await set.put('topic', { 'a.txt': 'A\n' })
    const poll = () => tryMerge(set.fixture.host, set.repo.id, 'main', head)
    expect(await poll()).toBe('unknown')
    await set.fetch()
    expect(await Promise.all([poll(), poll(), poll()])).toEqual(['clean', 'clean', 'clean'])
    await set.put('main', { 'a.txt': 'ours\n' })
    await set.fetch()
    expect(await poll()).toBe('conflict')
  })
})
