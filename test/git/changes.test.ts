import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { mirrorPath } from '../../src/git/process/git-host.ts'
import { readChanges } from '../../src/git/read/changes.ts'
import { listCommits } from '../../src/git/read/commits.ts'
import { commitFiles, localRepository, makeRepository, openGitFixture, run, runText } from './repositories.ts'

test('each kind of change is reported as such', async () => {
  await using fixture = await openGitFixture()
  const text = Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join('')
  const source = await makeRepository(join(fixture.dir, 'source'), {
    keep: 'k\n',
    gone: 'g\n',
    old: text,
    edit: text,
    type: 'x\n',
    mode: 'm\n',
    empty: '',
    noeol: 'a',
  })
  await writeFile(join(source, 'binary'), Buffer.from([0, 1, 2, 3]))
  const base = await commitFiles(source, 'base', {})
  await rm(join(source, 'gone'))
  await mkdir(join(source, 'sub'))
  await rename(join(source, 'old'), join(source, 'sub', 'new'))
  await rm(join(source, 'type'))
  await symlink('keep', join(source, 'type'))
  await chmod(join(source, 'mode'), 0o755)
  await writeFile(join(source, 'binary'), Buffer.from([0, 9]))
  const head = await commitFiles(source, 'head', {
    edit: text.replace('line 3\n', 'line three\n'),
    added: 'a\nb\n',
    empty: 'now\n',
    noeol: 'a\n',
  })
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const changes = await readChanges(fixture.host, repo.id, base, head, { max_patch_bytes: 100_000 })
  expect(
    changes.files.map(({ path, old_path, status, additions, deletions, binary }) => [
      path,
      old_path,
      status,
      additions,
      deletions,
      binary,
    ]),
  ).toEqual([
    ['added', null, 'added', 2, 0, false],
    ['binary', null, 'modified', null, null, true],
    ['edit', null, 'modified', 1, 1, false],
    ['empty', null, 'modified', 1, 0, false],
    ['gone', null, 'deleted', 0, 1, false],
    ['mode', null, 'modified', 0, 0, false],
    ['noeol', null, 'modified', 1, 1, false],
    ['sub/new', 'old', 'renamed', 0, 0, false],
    ['type', null, 'type_changed', 1, 1, false],
  ])
  expect(changes).toMatchObject({ files_changed: 9, additions: 6, deletions: 4, patch_truncated: false })
  expect(changes.patch).toContain('rename from old\nrename to sub/new\n')
  expect(changes.patch).toContain('Binary files a/binary and b/binary differ\n')
  expect(await readChanges(fixture.host, repo.id, head, head, { max_patch_bytes: 1_000 })).toEqual({
    files: [],
    files_changed: 0,
    additions: 0,
    deletions: 0,
    patch: '',
    patch_truncated: false,
  })
  expect(
    (await readChanges(fixture.host, repo.id, null, base, { max_patch_bytes: 1_000_000 })).files_changed,
  ).toBe(9)
})

test('a patch is cut at the end of a line, and the list of files is not', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const base = await runText(source, 'git', ['rev-parse', 'HEAD'])
  const head = await commitFiles(
    source,
    'head',
    Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [`f${i}`, 'é'.repeat(100).concat('\n').repeat(20)]),
    ),
  )
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const changes = await readChanges(fixture.host, repo.id, base, head, { max_patch_bytes: 5_000 })
  expect(changes).toMatchObject({ files_changed: 50, additions: 1_000, patch_truncated: true })
  expect(changes.patch.endsWith('\n')).toBe(true)
  expect(Buffer.byteLength(changes.patch)).toBeGreaterThan(4_500)
  expect(Buffer.byteLength(changes.patch)).toBeLessThanOrEqual(5_000)
  expect(changes.patch).not.toContain('\ufffd')
})

test('a list of files of several megabytes is complete, and so is the beginning of its patch', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const base = await runText(source, 'git', ['rev-parse', 'HEAD'])
  const names = Array.from({ length: 6_000 }, (_, n) => `${String(n).padStart(5, '0')}-${'x'.repeat(200)}`)
  const files = names.map(name => `M 100644 inline ${name}\ndata 2\nx\n`).join('')
  const commit = `commit refs/heads/main\ncommitter A <a@example.org> 1 +0000\ndata 1\nm\nfrom refs/heads/main^0\n${files}`
  await run(source, 'git', ['fast-import', '--quiet'], { input: commit })
  const head = await runText(source, 'git', ['rev-parse', 'main'])
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const changes = await readChanges(fixture.host, repo.id, base, head, { max_patch_bytes: 1_000 })
  expect(changes).toMatchObject({
    files_changed: 6_000,
    additions: 6_000,
    deletions: 0,
    patch_truncated: true,
  })
  expect(changes.files.map(({ path }) => path)).toEqual(names)
  expect(changes.patch).toMatch(/^diff --git a\/00000-x+ b\/00000-x+\nnew file mode 100644\n/)
})

test('a patch never holds NUL or broken characters', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const base = await runText(source, 'git', ['rev-parse', 'HEAD'])
  await writeFile(
    join(source, 'late'),
    Buffer.concat([Buffer.alloc(9_000, 'a\n'), Buffer.from([0, 0xff, 0xed, 0xa0, 0x80, 10])]),
  )
  const head = await commitFiles(source, 'head', {})
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const { patch } = await readChanges(fixture.host, repo.id, base, head, { max_patch_bytes: 100_000 })
  expect(patch).toContain('\ufffd')
  expect(patch.isWellFormed()).toBe(true)
  expect(patch).not.toContain('\0')
})

test('a diverged head has only its own changes, regardless of how it diverged', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const first = await runText(source, 'git', ['rev-parse', 'HEAD'])
  const base = await commitFiles(source, 'base', { theirs: 't\n' })
  await runText(source, 'git', ['checkout', '-q', '-b', 'back', first])
  const back = await commitFiles(source, 'back', { mine: 'm\n' })
  await runText(source, 'git', ['checkout', '-q', '-b', 'crossed', base])
  await runText(source, 'git', ['merge', '-q', '--no-ff', '-m', 'one way', back])
  const one = await runText(source, 'git', ['rev-parse', 'HEAD'])
  await runText(source, 'git', ['checkout', '-q', 'back'])
  await runText(source, 'git', ['merge', '-q', '--no-ff', '-m', 'other way', base])
  const other = await commitFiles(source, 'more', { more: 'x\n' })
  await runText(source, 'git', ['checkout', '-q', '--orphan', 'stranger'])
  await runText(source, 'git', ['rm', '-rfq', '.'])
  const stranger = await commitFiles(source, 'stranger', { alone: 'a\n' })
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const changesBetween = async (from: string, to: string) =>
    (await readChanges(fixture.host, repo.id, from, to, { max_patch_bytes: 10_000 })).files.map(
      ({ path, status }) => `${status} ${path}`,
    )
  expect(await changesBetween(base, back)).toEqual(['added mine'])
  expect(await changesBetween(base, first)).toEqual([])
  expect(await changesBetween(one, other)).toContain('added more')
  expect(await changesBetween(base, stranger)).toEqual(['deleted README.md', 'added alone', 'deleted theirs'])
})

test('attributes of the tree run nothing', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const base = await runText(source, 'git', ['rev-parse', 'HEAD'])
  const head = await commitFiles(source, 'head', {
    '.gitattributes': '* diff=evil filter=evil merge=evil\n',
    a: 'a\n',
  })
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const mirror = mirrorPath(fixture.host, repo.id)
  for (const key of ['diff.evil.command', 'diff.evil.textconv', 'diff.external'])
    await runText(mirror, 'git', ['config', key, `touch ${join(fixture.dir, 'ran')}; true`], {
      user: fixture.host.user,
    })
  const changes = await readChanges(fixture.host, repo.id, base, head, { max_patch_bytes: 10_000 })
  expect(changes.patch).toContain('+a\n')
  await expect(runText(fixture.dir, 'ls', ['ran'])).rejects.toThrow()
})

test('commits are listed oldest first, with their files; merges by their first parent', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const base = await runText(source, 'git', ['rev-parse', 'HEAD'])
  await commitFiles(source, 'one\n\nbody: ünï', { '\nodd': 'x', b: 'b' })
  await runText(source, 'git', ['checkout', '-q', '-b', 'side', base])
  await commitFiles(source, 'side', { side: 's' })
  await runText(source, 'git', ['checkout', '-q', 'main'])
  await runText(source, 'git', ['merge', '-q', '--no-ff', '-m', 'merge', 'side'])
  const empty = await commitFiles(source, 'empty', {})
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const commits = await listCommits(fixture.host, repo.id, base, empty)
  expect(commits.map(({ message, files }) => [message, files])).toEqual(
    expect.arrayContaining([
      ['one\n\nbody: ünï', ['\nodd', 'b']],
      ['side', ['side']],
      ['merge', ['side']],
      ['empty', []],
    ]),
  )
  expect(commits.at(-1)).toMatchObject({ sha: empty })
  expect(commits).toHaveLength(4)
  expect(await listCommits(fixture.host, repo.id, empty, empty)).toEqual([])
  expect(await listCommits(fixture.host, repo.id, base, empty, 1)).toMatchObject([{ sha: empty }])
  expect(await listCommits(fixture.host, repo.id, null, base)).toMatchObject([
    { sha: base, message: 'first', files: ['README.md'] },
  ])
})

test('a commit that the mirror lacks is an error, not an empty change', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const sha = await runText(source, 'git', ['rev-parse', 'HEAD'])
  const missing = 'f'.repeat(40)
  const readers = Array.from({ length: 10 }, () => [
    readChanges(fixture.host, repo.id, sha, missing, { max_patch_bytes: 100 }),
    listCommits(fixture.host, repo.id, sha, missing),
  ])
  // All at once: each marks the mirror.
  for (const { reason } of (await Promise.allSettled(readers.flat())) as PromiseRejectedResult[])
    expect(reason).toMatchObject({ name: 'GitError' })
})
