import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import type { GitRepository } from '../../../src/git/git-repository.ts'
import { refreshMirror } from '../../../src/git/mirrors/mirrors.ts'
import {
  type CacheOwner,
  importPack,
  objectCachePath,
  treeOf,
  withObjectCache,
} from '../../../src/git/objects/object-cache.ts'
import { type GitHost, mirrorPath, openGitHost } from '../../../src/git/process/git-host.ts'
import { readCachedChanges } from '../../../src/git/read/changes.ts'
import type {
  CapturedFiles,
  PreparedFiles,
  Snapshot,
} from '../../../src/git/workspace/checkpoint-commands.ts'
import { restoreCommand } from '../../../src/git/workspace/restore-command.ts'
import { cloneCommand, type WorkspaceRepository } from '../../../src/git/workspace/workspace-commands.ts'
import { WrittenObjects } from '../../../src/git/workspace/written-objects.ts'
import type { Sandbox } from '../../../src/sandbox/port.ts'
import { createOwnFolder } from '../../../src/system/own-folder.ts'
import { ensureSystemUsers } from '../../../src/system/users.ts'
import { Packer } from '../../../src/worker/workspace/packer.ts'
import { type SnapshotSandbox, startSnapshotSandbox } from '../../../src/worker/workspace/snapshot-sandbox.ts'
import { makeDriver, startSandbox, type TestSandbox } from '../../sandbox/start-sandbox.ts'
import { localRepository, makeRepository, runText } from '../repositories.ts'

export type CheckpointTest = AsyncDisposable & {
  host: GitHost
  kept: CacheOwner
  base_sha: string | null
  /** The run's own sandbox, as the agent has it. */
  agent: TestSandbox
  shots: SnapshotSandbox
  /** What was executed in the sandbox for snapshots. */
  commands: string[]
  /** How many processes `work` starts in the agent's sandbox or in the one for snapshots. */
  processesOf(where: 'agent' | 'shots', work: () => Promise<unknown>): Promise<number>
  /** The folders in which git looks for objects that a snapshot does not have itself. */
  borrowed(): Promise<string>
  inside: WorkspaceRepository | null
  first: Snapshot
  /** The snapshot after a command of the agent; git examines all files afterwards, and finds the same. */
  after(command: string): Promise<Snapshot>
  /** Packs what `snapshot` has beyond the packs before, and stores it. */
  keep(snapshot: Snapshot): Promise<{ tip: string; bytes: number }>
  changed(from: Snapshot, to: Snapshot): Promise<string[]>
  /** A fresh workspace with the files of a snapshot, as the next owner sees it. */
  restore(snapshot: Snapshot, work: (agent: TestSandbox, again: Snapshot) => Promise<void>): Promise<void>
}

/** How a snapshot is taken of files of which nothing is known. */
export const ANY_FILES = { stale: false, largest_bytes: Number.POSITIVE_INFINITY, complete: false }

/** What two snapshots of equal files have in common. */
export const filesOf = ({ number: _, ...files }: Snapshot): CapturedFiles => files

const users = ensureSystemUsers()
const caps = { max_file_bytes: 1024 ** 2, max_bytes: 32 * 1024 ** 2 }

/**
 * A run's workspace with its snapshots: cloned from a repository of `files`, or empty for null. Its next
 * owner is another one of these. `wrap`: changes what the sandbox for snapshots does.
 */
export async function startCheckpointTest(
  files: Record<string, string> | null,
  wrap: (sandbox: Sandbox) => Sandbox = sandbox => sandbox,
): Promise<CheckpointTest> {
  await using stack = new AsyncDisposableStack()
  const { driver, folder, makeWorkspace } = stack.use(makeDriver())
  chmodSync(folder, 0o755)
  createOwnFolder(join(folder, 'data'), 0o711, users.service)
  const host = stack.use(
    await openGitHost({
      data_dir: join(folder, 'data'),
      user: users.service,
      ...(users.sandbox && { reader_gid: users.sandbox.gid }),
      allow_private: true,
    }),
  )
  let repository: GitRepository | null = null
  let base_sha: string | null = null
  if (files !== null) {
    const path = await makeRepository(join(folder, 'repository'), files)
    repository = localRepository(path)
    base_sha = await runText(path, 'git', ['rev-parse', 'HEAD'])
    await refreshMirror(host, repository)
  }
  const kept: CacheOwner = { run_id: 7, repository_id: repository?.id ?? null }
  const inside: WorkspaceRepository | null = repository && {
    mirror_inside: '/mirror',
    base_sha,
    branch: 'agent/run-7-task',
    origin_url: repository.url,
    author_name: 'Agent',
    author_email: 'agent@example.org',
  }
  const mirror = repository === null ? [] : [{ host: mirrorPath(host, repository.id), inside: '/mirror' }]
  const commands: string[] = []
  const for_shots: Sandbox[] = []
  const noting: typeof driver = {
    ...driver,
    async start(spec) {
      const sandbox = wrap(await driver.start(spec))
      const exec: typeof sandbox.exec = request => {
        commands.push(request.command)
        return sandbox.exec(request)
      }
      for_shots.push(sandbox)
      return { ...sandbox, exec }
    },
  }
  let created = 0
  /** `of`: the run whose object cache it uses. */
  const open = async (of: CacheOwner, borrows_kept: boolean) => {
    const name = String(++created)
    const [workspace, shadow] = [makeWorkspace(name), makeWorkspace(`${name}.shadow`)]
    await withObjectCache(host, of.run_id, async () => {})
    const read_only = [...mirror, { host: objectCachePath(host, of.run_id), inside: '/kept' }]
    const written = new WrittenObjects(host, of)
    const agent = await startSandbox(driver, workspace, { read_only })
    const shots = await startSnapshotSandbox(noting, host, {
      kept: of,
      borrows_kept,
      written,
      workspace,
      shadow,
      base_sha,
      cpus: 2,
      ...caps,
    })
    return { agent, shots, written }
  }
  const must = async (agent: TestSandbox, command: string) => {
    const result = await agent.shell(command)
    if (result.exit_code !== 0) throw new Error(`${command} failed: ${result.text}`)
  }

  const { agent, shots, written } = await open(kept, false)
  stack.use(agent)
  stack.use(shots)
  if (inside) {
    const cloned = await agent.separate(cloneCommand(inside))
    if (cloned.exit_code !== 0) throw new Error(`clone failed: ${cloned.text}`)
  }
  const how: PreparedFiles =
    base_sha === null
      ? { from: 'empty' }
      : { from: 'clone', sha: base_sha, tree: await treeOf(host, kept, base_sha) }
  const first = await shots.prepare(how, 20_000)
  let before = first
  const inShots = async (command: string) => {
    const result = await for_shots
      .at(-1)
      ?.exec({ command, shell: 'separate', timeout_ms: 20_000, max_output_bytes: 100 })
    return Buffer.from(result?.output ?? '').toString()
  }
  const lastProcess = async (where: 'agent' | 'shots') => {
    const command = 'read -r _ _ _ _ last </proc/loadavg; echo $last'
    return Number(where === 'agent' ? (await agent.separate(command)).text : await inShots(command))
  }
  const packer = new Packer({
    git: host,
    kept,
    written,
    snapshots: shots,
    max_bytes: caps.max_bytes,
    base_sha,
    tip: null,
    known: [],
  })
  /** What a database would have. */
  const packs: { tip: string; content: Uint8Array }[] = []
  const running = stack.move()
  return {
    host,
    kept,
    base_sha,
    agent,
    shots,
    commands,
    async processesOf(where, work) {
      const from = await lastProcess(where)
      await work()
      // Reading takes two.
      return (await lastProcess(where)) - from - 2
    },
    borrowed: () => inShots('cat /workspace/objects/info/alternates'),
    inside,
    first,
    async after(command) {
      await must(agent, command)
      const taken = await shots.take(before, ANY_FILES, () => {}, 20_000)
      before = taken.snapshot ?? before
      const complete = await shots.take(before, { ...ANY_FILES, complete: true }, () => {}, 20_000)
      const { tree, head } = complete.snapshot ?? before
      if (complete.differs || tree !== before.tree || head !== before.head)
        throw new Error(`git found other files: ${JSON.stringify([before, complete])}`)
      return before
    },
    async keep(snapshot) {
      const pack = await packer.pack(snapshot)
      if (pack !== null) packs.push(pack)
      await packer.stored(pack, packs.length, snapshot)
      return { tip: packs.at(-1)?.tip ?? '', bytes: pack?.content.length ?? 0 }
    },
    async changed(from, to) {
      await written.toGit()
      const { files } = await readCachedChanges(host, kept, from.tree, to.tree, { max_patch_bytes: 10_000 })
      return files.map(file => `${file.status} ${file.path}`)
    },
    async restore(snapshot, work) {
      const of = { run_id: kept.run_id + created, repository_id: kept.repository_id }
      for (const { tip, content } of packs)
        await withObjectCache(host, of.run_id, () =>
          importPack(host, of, { pack: content, objects: [tip], max_bytes: caps.max_bytes }),
        )
      const next = await open(of, true)
      await using _agent = next.agent
      await using _shots = next.shots
      const result = await next.agent.separate(
        restoreCommand({ kept_inside: '/kept', beside: [], ...snapshot }, inside),
        {
          timeout_ms: 120_000,
        },
      )
      if (result.exit_code !== 0) throw new Error(`restore failed: ${result.text}`)
      await work(next.agent, await next.shots.prepare({ from: 'tree', tree: snapshot.tree }, 120_000))
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
