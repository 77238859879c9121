import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { openGitHost } from '../../../src/git/process/git-host.ts'
import type { Snapshot } from '../../../src/git/workspace/checkpoint-commands.ts'
import type { Layer } from '../../../src/sandbox/port.ts'
import { createOwnFolder } from '../../../src/system/own-folder.ts'
import { ensureSystemUsers } from '../../../src/system/users.ts'
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
  after(command: string): Promise<{ incremental: Snapshot; complete: Snapshot; by_git: boolean } | null>
  /** Takes one while files may change. */
  meanwhile(): Promise<void>
  /** As at the end of a turn. */
  finish(): Promise<{ incremental: string; complete: string } | null>
}

/** A base folder for any number of histories, which are layers on it (`layered`) or copies of it. */
export async function startHistories(): Promise<
  AsyncDisposable & { start(layered: boolean): Promise<TwoSnapshots> }
> {
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
    const { exit_code, text } = await creator.separate(CREATE)
    if (exit_code !== 0) throw new Error(text)
  }
  let count = 0
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
        const shots = own.use(await startShots(workspace, shadow, layer))
        return { shots, before: await shots.prepare({ from: 'empty' }, 60_000), stale: false }
      }
      const [incremental, complete] = [await open('one'), await open('two')]
      return twoSnapshots(agent, incremental, complete, own.move())
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }

  function startShots(workspace: string, shadow: string, layer: Layer | undefined) {
    return startSnapshotSandbox(driver, host, {
      kept: { run_id: 1, repository_id: null },
      borrows_kept: false,
      workspace,
      shadow,
      ...(layer && { within: layer }),
      base_sha: null,
      max_file_bytes: MAX_FILE_BYTES,
      max_bytes: 32 * 1024 ** 2,
      cpus: 2,
    })
  }
}

type Shots = { shots: SnapshotSandbox; before: Snapshot; stale: boolean }

function twoSnapshots(
  agent: TestSandbox,
  incremental: Shots,
  complete: Shots,
  own: AsyncDisposableStack,
): TwoSnapshots {
  const how = { stale: false, largest_bytes: Number.POSITIVE_INFINITY, complete: false }
  const take = async (from: Shots, stale: boolean) => {
    const was_stale = from.stale
    from.stale = true
    const taken = await from.shots.take(from.before, { ...how, stale: stale || was_stale }, () => {}, 60_000)
    from.stale = false
    from.before = taken.snapshot ?? from.before
    return taken
  }
  return {
    agent,
    async after(command) {
      await agent.shell(command)
      const taken = await Promise.allSettled([take(incremental, false), take(complete, true)])
      const [{ status: first }, { status: second }] = taken
      if (first !== second) throw new Error(`git failed for one of them only: ${first}, ${second}`)
      if (taken[0].status === 'rejected') return null
      const { by_git } = taken[0].value
      return { incremental: incremental.before, complete: complete.before, by_git }
    },
    async meanwhile() {
      await take(incremental, false)
    },
    async finish() {
      if (incremental.stale) return null
      const { differs } = await incremental.shots.take(
        incremental.before,
        { ...how, complete: true },
        () => {},
        60_000,
      )
      return differs
    },
    [Symbol.asyncDispose]: () => own.disposeAsync(),
  }
}
