import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mirrorState } from '../../src/git/mirrors/mirror-refs.ts'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { mirrorPath } from '../../src/git/process/git-host.ts'
import { pushBranch } from '../../src/git/publish/push.ts'
import { readFilesAt } from '../../src/git/read/read-files.ts'
import { hasCommit, resolveRef } from '../../src/git/read/revisions.ts'
import {
  addHook,
  commitFiles,
  localRepository,
  makeBare,
  makeRepository,
  openGitFixture,
  root,
  run,
  runText,
  SANDBOX,
  SERVICE,
} from './repositories.ts'

const refsOf = (dir: string) =>
  runText(dir, 'git', ['for-each-ref', '--format=%(refname)']).then(text => text.split('\n').filter(Boolean))

test('a mirror follows its remote: new, moved, rewritten and removed branches and tags', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const first = await runText(source, 'git', ['rev-parse', 'HEAD'])
  await runText(source, 'git', ['branch', 'dir'])
  await runText(source, 'git', ['tag', 'v1'])
  const repo = localRepository(source)
  const mirror = mirrorPath(fixture.host, repo.id)
  const before = Date.now()
  const created = await refreshMirror(fixture.host, repo)
  expect(created).toMatchObject({ default_branch: 'main', empty: false, changed: true })
  expect(Date.parse(created.refreshed_at)).toBeGreaterThanOrEqual(before)
  expect(await refsOf(mirror)).toEqual(['refs/heads/dir', 'refs/heads/main', 'refs/tags/v1'])
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ changed: false })

  await run(mirror, 'git', ['update-ref', 'refs/agentrun/5/1', first])
  await runText(source, 'git', ['branch', '-D', 'dir'])
  await runText(source, 'git', ['branch', 'dir/below'])
  await runText(source, 'git', ['tag', '-d', 'v1'])
  await runText(source, 'git', ['update-ref', 'refs/pull/1/head', first])
  await runText(source, 'git', ['commit', '-q', '--amend', '-m', 'rewritten'])
  const second = await runText(source, 'git', ['rev-parse', 'HEAD'])
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ changed: true })
  expect(await refsOf(mirror)).toEqual(['refs/agentrun/5/1', 'refs/heads/dir/below', 'refs/heads/main'])
  expect(await resolveRef(fixture.host, repo.id, 'main')).toMatchObject({ sha: second })
})

test('commits that the remote rewrote stay in the mirror, also when its packs become few: workspaces borrow them', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const gone = await runText(source, 'git', ['rev-parse', 'HEAD'])
  const mirror = mirrorPath(fixture.host, repo.id)
  const fill =
    'for i in $(seq 45); do sha=$(echo $i | git hash-object -w --stdin); echo $sha; echo $sha | git pack-objects -q objects/pack/pack >&2; done; git prune-packed'
  const blobs = (await runText(mirror, 'sh', ['-c', fill])).split('\n')
  await runText(source, 'git', ['commit', '-q', '--amend', '-m', 'rewritten'])
  await refreshMirror(fixture.host, repo)
  const packs = (await readdir(join(mirror, 'objects', 'pack'))).filter(name => name.endsWith('.pack'))
  expect(packs.length).toBeLessThan(10)
  for (const sha of [...blobs, gone]) await run(mirror, 'git', ['cat-file', '-e', sha])
})

test('a mirror belongs to the service user and can be read by its group only', async () => {
  await using fixture = await openGitFixture()
  const repo = localRepository(await makeRepository(join(fixture.dir, 'source')))
  await refreshMirror(fixture.host, repo)
  const mirror = mirrorPath(fixture.host, repo.id)
  const wrong = await runText(mirror, 'find', [
    '.',
    '-perm',
    '/007',
    '-o',
    '(',
    '-type',
    'f',
    '!',
    '-perm',
    '-040',
    ')',
    '-o',
    '(',
    '-type',
    'd',
    '!',
    '-perm',
    '-050',
    ')',
  ])
  expect(wrong).toBe('')
  if (!root) return
  expect(
    await runText(mirror, 'find', [
      '.',
      '!',
      '-uid',
      String(SERVICE.uid),
      '-o',
      '!',
      '-gid',
      String(SANDBOX.gid),
    ]),
  ).toBe('')
  expect(
    await runText('/', 'git', ['--git-dir', mirror, 'log', '--format=%s', 'main'], { user: SANDBOX }),
  ).toBe('first')
})

test('callers at the same time share one fetch', async () => {
  await using fixture = await openGitFixture()
  const repo = localRepository(await makeRepository(join(fixture.dir, 'source')))
  const all = await Promise.all(Array.from({ length: 8 }, () => refreshMirror(fixture.host, repo)))
  expect(new Set(all).size).toBe(1)
})

test('a caller with an expired wait returns, and the fetch continues in the background', async () => {
  await using fixture = await openGitFixture()
  const repo = localRepository(await makeRepository(join(fixture.dir, 'source')))
  await expect(refreshMirror(fixture.host, repo, { wait_ms: 1 })).rejects.toMatchObject({ code: 'timeout' })
  await expect(
    refreshMirror(fixture.host, repo, { signal: AbortSignal.abort(new Error('stopped')) }),
  ).rejects.toThrow('stopped')
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ changed: true })
})

test('processes of the service that fetch the same repository at once all get it whole', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  for (let i = 0; i < 20; i++) await runText(source, 'git', ['branch', `b${i}`])
  const children = Array.from({ length: 3 }, () =>
    fork(join(import.meta.dirname, 'refresh-process.ts'), [
      join(fixture.dir, 'data'),
      source,
      root ? String(SERVICE.uid) : '',
    ]),
  )
  const responses = await Promise.all(children.map(async child => (await once(child, 'message'))[0]))
  for (const response of responses) expect(response).toMatchObject({ default_branch: 'main', branches: 21 })
})

test('a mirror that lost objects is detected and rebuilt, and the objects of runs in it are kept', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const mirror = mirrorPath(fixture.host, repo.id)
  const kept = await runText(mirror, 'git', ['commit-tree', '-m', 'work of a run', 'main^{tree}'])
  await run(mirror, 'git', ['update-ref', 'refs/agentrun/9/1', kept])
  const second = await commitFiles(source, 'second', { 'b.txt': 'b' })
  await refreshMirror(fixture.host, repo)
  for (const name of await readdir(join(mirror, 'objects', 'pack'))) {
    const index = name.endsWith('.idx') ? await readFile(join(mirror, 'objects', 'pack', name)) : null
    if (index?.includes(Buffer.from(second, 'hex')))
      await rm(join(mirror, 'objects', 'pack', name.replace('.idx', '.pack')))
  }

  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ changed: true, default_branch: 'main' })
  expect(await resolveRef(fixture.host, repo.id, null)).toMatchObject({ sha: second })
  await run(mirror, 'git', ['fsck', '--no-dangling'])
  expect(await hasCommit(fixture.host, repo.id, kept)).toBe(true)
  expect(await refsOf(mirror)).toEqual(['refs/agentrun/9/1', 'refs/heads/main'])
})

test('a mirror that proves to be corrupt when it is read is rebuilt by the next refresh', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'), {
    'README.md': 'x'.repeat(20_000),
    noise: Array.from({ length: 5_000 }, Math.random).join(),
  })
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const base = await resolveRef(fixture.host, repo.id, null)
  if (!base || 'empty' in base) throw new Error('no base')
  const packs = join(mirrorPath(fixture.host, repo.id), 'objects', 'pack')
  for (const name of await readdir(packs)) {
    if (!name.endsWith('.pack')) continue
    await chmod(join(packs, name), 0o640)
    await truncate(join(packs, name), Math.floor((await stat(join(packs, name))).size / 2))
  }
  await expect(readFilesAt(fixture.host, repo.id, base.sha, ['noise'], 100_000)).rejects.toMatchObject({
    code: 'corrupt',
  })
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ changed: true })
  expect((await readFilesAt(fixture.host, repo.id, base.sha, ['noise'], 100)).get('noise')).toMatchObject({
    truncated: true,
  })
})

test('a mirror that a run finds without its commit is examined by the next refresh', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const base = await runText(source, 'git', ['rev-parse', 'HEAD'])
  const mirror = mirrorPath(fixture.host, repo.id)
  expect((await readFilesAt(fixture.host, repo.id, base, ['README.md'], 100)).size).toBe(1)
  await refreshMirror(fixture.host, repo)
  await run(mirror, 'sh', ['-c', 'for f in objects/pack/*; do chmod u+w $f; : > $f; done'])
  await readFilesAt(fixture.host, repo.id, base, ['README.md'], 100).catch(() => null)
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ changed: true })
  expect((await readFilesAt(fixture.host, repo.id, base, ['README.md'], 100)).size).toBe(1)
})

test('what a killed fetch left behind does not stop the next one', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const mirror = mirrorPath(fixture.host, repo.id)
  for (const name of [
    'packed-refs.lock',
    'HEAD.lock',
    'shallow.lock',
    'refs/heads/main.lock',
    'objects/pack/tmp_pack_abc',
  ])
    await writeFile(join(mirror, name), '')
  await writeFile(join(fixture.host.mirrors, `${repo.id}.building-dead`), '')
  await commitFiles(source, 'second', { 'b.txt': 'b' })
  await runText(source, 'git', ['branch', 'new'])
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ changed: true })
  expect(await readdir(join(mirror, 'objects', 'pack'))).not.toContain('tmp_pack_abc')
})

test('a repository over the size limit is refused, leaves nothing behind, and the error states the limit', async () => {
  await using fixture = await openGitFixture({ max_mirror_bytes: 100_000 })
  const source = await makeRepository(join(fixture.dir, 'source'), {
    big: Array.from({ length: 50_000 }, Math.random).join(),
  })
  const repo = localRepository(source)
  await expect(refreshMirror(fixture.host, repo)).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('repository_too_large'),
  })
  expect((await readdir(fixture.host.mirrors)).filter(name => !name.endsWith('.lock'))).toEqual([])
  expect(await mirrorState(fixture.host, repo.id)).toBeNull()
})

test('objects that could mislead a checkout are refused, and malformed ones of old histories are not', async () => {
  await using fixture = await openGitFixture()
  const evil = await makeRepository(join(fixture.dir, 'evil'))
  const blob = await runText(evil, 'git', ['hash-object', '-w', '--stdin'], { input: 'payload' })
  const inner = await runText(evil, 'git', ['mktree'], { input: `100644 blob ${blob}\tconfig\n` })
  const raw = Buffer.concat([Buffer.from('40000 .git\0'), Buffer.from(inner, 'hex')])
  const tree = await runText(evil, 'git', ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], {
    input: raw,
  })
  await runText(evil, 'git', [
    'branch',
    'evil',
    await runText(evil, 'git', ['commit-tree', '-m', 'evil', tree]),
  ])
  const refused = localRepository(evil)
  await expect(refreshMirror(fixture.host, refused)).rejects.toMatchObject({
    code: 'corrupt',
    message: expect.stringContaining('hasDotgit'),
  })
  expect(await mirrorState(fixture.host, refused.id)).toBeNull()

  const old = await makeRepository(join(fixture.dir, 'old'))
  const file = await runText(old, 'git', ['rev-parse', 'main:README.md'])
  const padded = Buffer.concat([Buffer.from('0100644 README.md\0'), Buffer.from(file, 'hex')])
  const oldTree = await runText(old, 'git', ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], {
    input: padded,
  })
  const text = `tree ${oldTree}\nauthor Ada <ada@example.org>1112911993 -1430\ncommitter Ada <ada@example.org> 1112911993 -1430\n\nold\n`
  const commit = await runText(old, 'git', ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], {
    input: text,
  })
  await runText(old, 'git', ['branch', 'old', commit])
  expect(await refreshMirror(fixture.host, localRepository(old))).toMatchObject({ changed: true })
})

test('a shallow repository is mirrored as it is', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  await commitFiles(source, 'second', { 'b.txt': 'b' })
  const shallow = join(fixture.dir, 'shallow')
  await run('/', 'git', ['clone', '-q', '--depth', '1', `file://${source}`, shallow])
  const repo = localRepository(shallow)
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ changed: true })
  const base = await resolveRef(fixture.host, repo.id, null)
  expect(base).toMatchObject({ ref: 'main' })
  expect(await runText(mirrorPath(fixture.host, repo.id), 'git', ['log', '--format=%s', 'main'])).toBe(
    'second',
  )
})

test('a SHA-256 repository is refused with a message', async () => {
  await using fixture = await openGitFixture()
  const source = join(fixture.dir, 'source')
  await run('/', 'git', ['init', '-q', '-b', 'main', '--object-format=sha256', source])
  await commitFiles(source, 'first', { a: 'a' })
  await expect(refreshMirror(fixture.host, localRepository(source))).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringContaining('SHA-256'),
  })
})

test('stopping the service ends a fetch under way and leaves no process', async () => {
  const fixture = await openGitFixture()
  const bare = await makeBare(
    join(fixture.dir, 'remote.git'),
    await makeRepository(join(fixture.dir, 'source')),
  )
  const repo = localRepository(bare)
  await refreshMirror(fixture.host, repo)
  const sha = await runText(bare, 'git', ['rev-parse', 'main'])
  await addHook(bare, 'pre-receive', `echo $$ > ${join(fixture.dir, 'started')}; exec sleep 600`)
  await writeFile(join(fixture.dir, 'started'), '')
  await run('/', 'chmod', ['666', join(fixture.dir, 'started')])
  const pushed = pushBranch(fixture.host, repo, sha, 'agent/run-1-x').then(
    () => 'pushed',
    error => error.message,
  )
  const pid = await hookPid(join(fixture.dir, 'started'))
  await fixture[Symbol.asyncDispose]()
  expect(await pushed).toBe('the service is stopping')
  expect(await stateOf(pid)).toMatch(/^(gone|Z)$/)
})

/** The kernel's letter for a process: an orphan may stay a zombie (Z) without a process that reaps it. */
async function stateOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[0] ?? 'gone'
}

async function hookPid(file: string): Promise<number> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; ) {
    const text = await runText('/', 'cat', [file])
    if (text !== '') return Number(text)
  }
  throw new Error('the hook did not start')
}
