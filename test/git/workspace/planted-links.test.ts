import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clearSuspect, markSuspect, writeMirrorState } from '../../../src/git/mirrors/mirror-refs.ts'
import { removeMirror } from '../../../src/git/mirrors/remove-mirror.ts'
import {
  markKept,
  objectCachePath,
  sweepObjectCaches,
  withObjectCache,
} from '../../../src/git/objects/object-cache.ts'
import { withQuarantine } from '../../../src/git/objects/quarantine.ts'
import type { GitHost } from '../../../src/git/process/git-host.ts'
import { openGitFixture, root, run, SERVICE } from '../repositories.ts'

/**
 * A folder that belongs to root alone, with files of the names that the service itself writes, moves and
 * removes.
 */
const NAMES = ['HEAD', 'config', 'agentrun.json', 'agentrun-suspect', 'agentrun-packs']

function makeTreasure(dir: string): { path: string; state: () => unknown } {
  const path = join(dir, 'treasure')
  for (const folder of [path, join(path, 'objects'), join(path, 'objects/pack'), join(path, 'info')])
    mkdirSync(folder, { mode: 0o755 })
  for (const name of NAMES) writeFileSync(join(path, name), 'of root', { mode: 0o600 })
  const state = () =>
    readdirSync(path, { recursive: true, encoding: 'utf8' })
      .toSorted()
      .map(name => {
        const { uid, gid, mode } = lstatSync(join(path, name))
        return [name, uid, gid, mode, NAMES.includes(name) ? readFileSync(join(path, name), 'utf8') : null]
      })
  return { path, state }
}

/** What the service does to repositories, each given the path of a link instead of the repository. */
const deeds: Record<string, (host: GitHost, git_dir: string) => Promise<unknown>> = {
  'makes a repository for what is kept of a run': host => withObjectCache(host, 7, async () => {}),
  'notes how much is kept': async host => markKept(host, 7, 3),
  'sweeps what is kept': host => sweepObjectCaches(host, 0),
  'writes the state of a mirror': (host, git_dir) =>
    writeMirrorState(host, git_dir, { refreshed_at: '', default_branch: null, empty: true }),
  'marks a mirror': host => markSuspect(host, 7),
  'takes the mark away': host => clearSuspect(host, 7),
  'takes objects in': (host, git_dir) =>
    withQuarantine(host, { git_dir }, async quarantine => {
      await run('/', 'touch', [join(quarantine.call.env.GIT_OBJECT_DIRECTORY ?? '', 'pack/pack-1.pack')], {
        user: SERVICE,
      })
      await quarantine.keep()
    }),
  'removes a mirror': host => removeMirror(host, 7),
}

for (const [name, deed] of Object.entries(deeds))
  test.runIf(root)(`a link of git's user leads the service to no file of root when it ${name}`, async () => {
    await using fixture = await openGitFixture()
    const treasure = makeTreasure(fixture.dir)
    const before = treasure.state()
    const paths = [join(fixture.host.mirrors, '7.git'), objectCachePath(fixture.host, 7)]
    for (const path of paths) await run('/', 'ln', ['-s', treasure.path, path], { user: SERVICE })
    // Whether it works or complains is not the question.
    await deed(fixture.host, paths[0] ?? '').catch(() => {})
    expect(treasure.state()).toEqual(before)
  })

test.runIf(root)('the owner of folders that git replaces by links meanwhile is not changed', async () => {
  await using fixture = await openGitFixture()
  const treasure = makeTreasure(fixture.dir)
  const before = treasure.state()
  const git_dir = join(fixture.host.mirrors, '8.git')
  await run('/', 'git', ['init', '-q', '--bare', git_dir], { user: SERVICE })
  await withQuarantine(fixture.host, { git_dir }, async quarantine => {
    const incoming = quarantine.call.env.GIT_OBJECT_DIRECTORY ?? ''
    await run('/', 'touch', [join(incoming, 'pack/pack-2.pack')], { user: SERVICE })
    // What git's user could do at this moment: have the objects of the repository elsewhere.
    renameSync(join(git_dir, 'objects'), join(git_dir, 'before'))
    symlinkSync(join(treasure.path, 'objects'), join(git_dir, 'objects'))
    await quarantine.keep()
  }).catch(() => {})
  expect(treasure.state()).toEqual(before)
  rmSync(git_dir, { recursive: true })
  expect(existsSync(treasure.path)).toBe(true)
})

test.runIf(root)("the service's own folders for git are not taken where a link is", async () => {
  await using fixture = await openGitFixture()
  const treasure = makeTreasure(fixture.dir)
  const before = treasure.state()
  const { openGitHost } = await import('../../../src/git/process/git-host.ts')
  const data_dir = join(fixture.dir, 'other')
  mkdirSync(data_dir)
  symlinkSync(treasure.path, join(data_dir, 'checkpoints'))
  await expect(openGitHost({ data_dir, user: SERVICE, allow_private: true })).rejects.toThrow()
  expect(treasure.state()).toEqual(before)
  expect(lstatSync(treasure.path).uid).toBe(0)
})
