import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { chmod, chown, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mirrorRefs } from '../../src/git/mirrors/mirror-refs.ts'
import { refreshMirror, refreshMirrorNow } from '../../src/git/mirrors/mirrors.ts'
import { importPack, withObjectCache } from '../../src/git/objects/object-cache.ts'
import { mirrorPath } from '../../src/git/process/git-host.ts'
import { importBundle, keepPushed } from '../../src/git/publish/bundles.ts'
import { noteAncestor, tryMerge } from '../../src/git/publish/mergeable.ts'
import { keepOwnPush } from '../../src/git/publish/own-push.ts'
import { runProgram } from '../../src/system/programs/run-program.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import {
  commitFiles,
  localRepository,
  makeRepository,
  openGitFixture,
  root,
  run,
  runText,
  SERVICE,
} from './repositories.ts'

/**
 * A repository `source`, its mirror, a clone `work` with a commit `head` on `topic`, and a git that notes
 * each of its calls.
 */
async function counted() {
  const folder = temporaryFolder()
  const [log, program] = [join(folder.path, 'log'), join(folder.path, 'git')]
  await writeFile(log, '')
  await writeFile(
    program,
    `#!/bin/sh\necho "$1" >>${log}\nexec /usr/bin/env PATH=/usr/local/bin:/usr/bin:/bin git "$@"\n`,
  )
  for (const path of [folder.path, program]) await chmod(path, 0o755)
  if (root) await chown(log, SERVICE.uid, SERVICE.gid)
  const fixture = await openGitFixture({ path: `${folder.path}:/usr/local/bin:/usr/bin:/bin` })
  const source = await makeRepository(join(fixture.dir, 'source'))
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const work = join(fixture.dir, 'work')
  await run('/', 'git', ['clone', '-q', source, work])
  const base_sha = await runText(work, 'git', ['rev-parse', 'HEAD'])
  const head = await commitFiles(work, 'work', { 'a/b.txt': 'b' })
  return {
    host: fixture.host,
    repo,
    work,
    head,
    base_sha,
    objects: { repository_id: repo.id, run_id: 4 },
    /** What git was called for meanwhile. */
    async callsOf(deed: () => Promise<unknown>): Promise<string[]> {
      await writeFile(log, '')
      await deed()
      return (await readFile(log, 'utf8')).split('\n').filter(Boolean)
    },
    /** `ready`: called when the bundle of the commit exists. */
    async importHead(ready = () => {}) {
      const file = join(fixture.dir, `${head}.bundle`)
      await run(work, 'git', ['update-ref', 'refs/agentrun/out', head])
      await run(work, 'git', ['bundle', 'create', '-q', file, 'refs/agentrun/out', '^origin/main'])
      ready()
      await importBundle(fixture.host, { repository_id: repo.id, run_id: 4 }, file, {
        head_sha: head,
        base_sha,
      })
    },
    push: () => run(work, 'git', ['push', '-q', 'origin', 'HEAD:refs/heads/topic']),
    topic: () => runText(mirrorPath(fixture.host, repo.id), 'git', ['rev-parse', 'refs/heads/topic']),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

test('a commit of a run is imported and examined by three git processes, and the objects of a checkpoint by two', async () => {
  await using set = await counted()
  expect(await set.callsOf(() => set.importHead())).toEqual(['index-pack', 'cat-file', 'rev-list'])
  const pack = await run(set.work, 'git', ['pack-objects', '--revs', '--stdout', '-q'], {
    input: `${set.head}\n`,
  })
  const kept = { run_id: 5, repository_id: set.repo.id }
  const importIt = () =>
    withObjectCache(set.host, 5, () =>
      importPack(set.host, kept, { pack, objects: [set.head], max_bytes: 1_000_000 }),
    )
  expect(await set.callsOf(importIt)).toEqual(['index-pack', 'cat-file'])
})

test('a pushed commit enters the mirror by two git processes, and is not fetched afterwards', async () => {
  await using set = await counted()
  await set.importHead()
  await set.push()
  const { head, base_sha } = set
  const pushed = { turn: 1, head_sha: head, base_sha, branch: { name: 'topic', before: null } }
  expect(await set.callsOf(() => keepPushed(set.host, set.objects, pushed))).toEqual([
    'pack-objects',
    'update-ref',
  ])
  expect(await set.topic()).toBe(set.head)
  const refresh = () => refreshMirror(set.host, set.repo)
  expect(
    await set.callsOf(async () => expect(await refresh()).toMatchObject({ changed: false })),
  ).not.toContain('fetch')
})

test('a run that was the only one to push leaves a mirror that is compared without a process', async () => {
  await using set = await counted()
  const refresh = () =>
    set.callsOf(async () =>
      expect(await refreshMirrorNow(set.host, set.repo)).toMatchObject({ changed: false }),
    )
  const [branch, { head, base_sha }] = ['topic', set]
  const keep = () =>
    keepPushed(set.host, set.objects, {
      turn: 1,
      head_sha: head,
      base_sha,
      branch: { name: branch, before: null },
    })
  await set.importHead()
  await set.push()
  await keepOwnPush(set.host, set.repo, { branch, sha: head }, keep)
  expect(await refresh()).toEqual([])
  expect(await set.topic()).toBe(head)
})

test.each([
  ['another branch is pushed beside it', 'git push -q origin HEAD:refs/heads/other', 'refs/heads/other'],
  [
    'the branch is pushed to again',
    'git commit -qm more --allow-empty; git push -q origin HEAD:topic',
    'refs/heads/topic',
  ],
])('a mirror is compared with its repository when %s', async (_, command, ref) => {
  await using set = await counted()
  const { head, base_sha } = set
  const branch = { name: 'topic', before: null }
  await set.importHead()
  await set.push()
  await keepOwnPush(set.host, set.repo, { branch: 'topic', sha: head }, async () => {
    await run(set.work, 'bash', ['-ec', command])
    await keepPushed(set.host, set.objects, { turn: 1, head_sha: head, base_sha, branch })
  })
  expect(await refreshMirrorNow(set.host, set.repo)).toMatchObject({ changed: true })
  const there = await runText(set.work, 'git', ['ls-remote', 'origin', ref])
  expect((await mirrorRefs(set.host, set.repo.id))?.get(ref)).toBe(there.split('\t')[0])
})

test('a mirror that misses the pushed commit is compared with its repository', async () => {
  await using set = await counted()
  await set.push()
  await keepOwnPush(set.host, set.repo, { branch: 'topic', sha: set.head }, async () => {})
  expect(await refreshMirrorNow(set.host, set.repo)).toMatchObject({ changed: true })
})

test('a commit that builds on the tip of the base branch is mergeable without a process', async () => {
  await using set = await counted()
  noteAncestor(set.base_sha, set.head)
  const poll = async () => expect(await tryMerge(set.host, set.repo.id, 'main', set.head)).toBe('clean')
  expect(await set.callsOf(poll)).toEqual([])
})

test('neither the exchange with a remote on this machine nor the reading of objects forks this process', async () => {
  await using set = await counted()
  await runProgram({ program: 'true', args: [], cwd: '/', env: {}, max_output_bytes: 1 }).done
  const started: string[] = []
  const note = (message: unknown) =>
    started.push(String((message as { process: ChildProcess }).process.spawnfile))
  await set.push()
  subscribe('child_process', note)
  await refreshMirror(set.host, set.repo)
  unsubscribe('child_process', note)
  await set.importHead(() => subscribe('child_process', note))
  unsubscribe('child_process', note)
  expect(started).toEqual([])
})

test('what somebody pushed to the branch later, and a fetch has found, stays in the mirror', async () => {
  await using set = await counted()
  await set.importHead()
  await set.push()
  const later = await commitFiles(set.work, 'later', { c: 'c' })
  await set.push()
  await refreshMirror(set.host, set.repo)
  await keepPushed(set.host, set.objects, {
    turn: 1,
    head_sha: set.head,
    base_sha: set.base_sha,
    branch: { name: 'topic', before: null },
  })
  expect(await set.topic()).toBe(later)
})
