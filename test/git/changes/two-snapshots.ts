import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { importPack, inObjectCache, withObjectCache } from '../../../src/git/objects/object-cache.ts'
import { openGitHost } from '../../../src/git/process/git-host.ts'
import { git } from '../../../src/git/process/run-git.ts'
import type { Snapshot } from '../../../src/git/workspace/checkpoint-commands.ts'
import { WrittenObjects } from '../../../src/git/workspace/written-objects.ts'
import type { Layer } from '../../../src/sandbox/port.ts'
import type { NewPack } from '../../../src/store/workspaces/checkpoints.ts'
import { createOwnFolder } from '../../../src/system/own-folder.ts'
import { ensureSystemUsers } from '../../../src/system/users.ts'
import { Packer } from '../../../src/worker/workspace/packer.ts'
import { type SnapshotSandbox, startSnapshotSandbox } from '../../../src/worker/workspace/snapshot-sandbox.ts'
import { makeDriver, startSandbox, type TestSandbox } from '../../sandbox/start-sandbox.ts'
import { MAX_FILE_BYTES } from './random-changes.ts'

const CREATE = `set -e
git init -q .; git config gc.auto 0
mkdir -p src/deep/er lib ignored a/b 'odd é' modules/x
for f in b c.js src/a src/b.js src/deep/er/a src/deep/er/c.js lib/a lib/d.log ignored/a a/b/a a/a 'odd é/ü' modules/x/file; do echo "$f" >"$f"; done
chmod +x src/b.js; ln -s src/a link; ln -s lib linked
printf '*.tmp\\n/ignored\\n' >.gitignore; printf '*.js text eol=crlf\\n' >.gitattributes
for i in {1..300}; do echo $i >lib/many-$i; done
git add -A; git add -f ignored/a; git commit -qm first`

/** Files of an agent, and two sandboxes for snapshots: from the changed paths, and by git alone. */
export type TwoSnapshots = AsyncDisposable & {
  agent: TestSandbox
  /**
   * Takes both after a command of the agent; null: git fails for both, for example in a folder that can be
   * listed and not entered. `by_git`: git has examined all files for the first, too.
   */
  after(
    command: string,
    storing?: Storing,
  ): Promise<{ from_changes: Snapshot; from_git: Snapshot; by_git: boolean } | null>
  /** Takes one while files may change. */
  meanwhile(): Promise<void>
  /** As at the end of a turn. */
  finish(): Promise<{ from_changes: string; from_git: string } | null>
}

/** Whether a checkpoint is stored; `lost`: its pack was written, and the database failed. */
export type Storing = boolean | 'lost'

/** A base folder for any number of histories, which are layers on it (`layered`) or copies of it. */
export async function startHistories(
  more = '',
): Promise<AsyncDisposable & { start(layered: boolean): Promise<TwoSnapshots> }> {
  await using stack = new AsyncDisposableStack()
  const { driver, folder, makeWorkspace } = stack.use(makeDriver())
  chmodSync(folder, 0o755)
  const users = ensureSystemUsers()
  createOwnFolder(join(folder, 'data'), 0o711, users.service)
  const host = stack.use(
    await openGitHost({ data_dir: join(folder, 'data'), user: users.service, allow_private: true }),
  )
  const base = makeWorkspace('files-of-all')
  {
    await using creator = await startSandbox(driver, base)
    const { exit_code, text } = await creator.separate(`${CREATE}\n${more}`)
    if (exit_code !== 0) throw new Error(text)
  }
  let count = 0
  let runs = 0
  const running = stack.move()
  return {
    async start(layered) {
      await using own = new AsyncDisposableStack()
      const workspace = makeWorkspace(`history-${++count}`)
      const layer = layered ? await driver.layers?.open([{ folder: workspace, base }]) : undefined
      if (layer) own.use(layer)
      const within = layer ? { within: layer } : {}
      const agent = own.use(
        await startSandbox(driver, workspace, {
          ...within,
          read_only: layer ? [] : [{ host: base, inside: '/base' }],
        }),
      )
      if (!layer) await agent.shell('cp -a /base/. .')
      const open = async (name: string) => {
        const shadow = makeWorkspace(`history-${count}.${name}`)
        const started = await startShots(workspace, shadow, layer)
        own.use(started.shots)
        const before = await started.shots.prepare({ from: 'empty' }, 60_000)
        await started.store(before)
        return { ...started, before, stale: false }
      }
      const [from_changes, from_git] = [await open('one'), await open('two')]
      return twoSnapshots(agent, from_changes, from_git, own.move())
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }

  /** The sandbox for snapshots, and the packs of what it finds, as a database would have them. */
  async function startShots(workspace: string, shadow: string, layer: Layer | undefined) {
    const kept = { run_id: ++runs, repository_id: null }
    await withObjectCache(host, kept.run_id, async () => {})
    const written = new WrittenObjects(host, kept)
    const shots = await startSnapshotSandbox(driver, host, {
      kept,
      borrows_kept: false,
      written,
      workspace,
      shadow,
      ...(layer && { within: layer }),
      base_sha: null,
      max_file_bytes: MAX_FILE_BYTES,
      max_bytes: MAX_PACK_BYTES,
      cpus: 2,
    })
    const packer = new Packer({
      git: host,
      kept,
      written,
      snapshots: shots,
      max_bytes: MAX_PACK_BYTES,
      base_sha: null,
      tip: null,
      known: [],
    })
    const packs: NewPack[] = []
    const store = async (snapshot: Snapshot, lost = false) => {
      const pack = await packer.pack(snapshot)
      if (lost) return
      if (pack !== null) packs.push(pack)
      await packer.stored(pack, packs.length, snapshot)
    }
    return { shots, store, restore: (tree: string) => restoreElsewhere(packs, tree) }
  }

  /** Another machine has the packs only, and finds all objects of the tree in them. */
  async function restoreElsewhere(packs: NewPack[], tree: string) {
    const kept = { run_id: ++runs, repository_id: null }
    await withObjectCache(host, kept.run_id, async () => {
      for (const { tip, content } of packs)
        await importPack(host, kept, { pack: content, objects: [tip], max_bytes: MAX_PACK_BYTES })
    })
    const args = ['rev-list', '--objects', '--quiet', tree]
    await git(host, 'objects are missing', { ...inObjectCache(host, kept), args })
  }
}

const MAX_PACK_BYTES = 32 * 1024 ** 2

type Shots = {
  shots: SnapshotSandbox
  store(snapshot: Snapshot, lost?: boolean): Promise<void>
  restore(tree: string): Promise<void>
  before: Snapshot
  stale: boolean
}

function twoSnapshots(
  agent: TestSandbox,
  from_changes: Shots,
  from_git: Shots,
  own: AsyncDisposableStack,
): TwoSnapshots {
  const options = { stale: false, largest_bytes: Number.POSITIVE_INFINITY, complete: false }
  const take = async (from: Shots, stale: boolean) => {
    const was_stale = from.stale
    from.stale = true
    const taken = await from.shots.take(
      from.before,
      { ...options, stale: stale || was_stale },
      () => {},
      60_000,
    )
    from.stale = false
    from.before = taken.snapshot ?? from.before
    return taken
  }
  return {
    agent,
    async after(command, storing = true) {
      await agent.shell(command)
      const taken = await Promise.allSettled([take(from_changes, false), take(from_git, true)])
      const [{ status: first }, { status: second }] = taken
      if (first !== second) throw new Error(`git failed for one of them only: ${first}, ${second}`)
      if (taken[0].status === 'rejected') return null
      if (storing) await from_changes.store(from_changes.before, storing === 'lost')
      const { by_git } = taken[0].value
      return { from_changes: from_changes.before, from_git: from_git.before, by_git }
    },
    async meanwhile() {
      await take(from_changes, false)
    },
    async finish() {
      if (from_changes.stale) return null
      const { snapshot, differs } = await from_changes.shots.take(
        from_changes.before,
        { ...options, complete: true },
        () => {},
        60_000,
      )
      from_changes.before = snapshot ?? from_changes.before
      await from_changes.store(from_changes.before)
      await from_changes.restore(from_changes.before.tree)
      return differs
    },
    [Symbol.asyncDispose]: () => own.disposeAsync(),
  }
}
