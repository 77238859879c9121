import { startQuietPolling } from '../../core/polling.ts'
import { type CacheOwner, objectCachePath } from '../../git/objects/object-cache.ts'
import { type GitHost, mirrorPath } from '../../git/process/git-host.ts'
import { listChangesCommand } from '../../git/workspace/changed-paths.ts'
import {
  type CheckpointFolders,
  learnCommand,
  type PackInput,
  type PreparedFiles,
  packCommand,
  parseTip,
  prepareCommand,
  redefineCommand,
  type Snapshot,
  unblockCommand,
} from '../../git/workspace/checkpoint-commands.ts'
import type { WrittenObjects } from '../../git/workspace/written-objects.ts'
import {
  type ExecResult,
  type Layer,
  type Sandbox,
  type SandboxDriver,
  SandboxError,
} from '../../sandbox/port.ts'
import { ChangesProgram } from './changes-program.ts'
import { type SnapshotOptions, SnapshotTaker, type TakenSnapshot } from './snapshot-taker.ts'

const OUTPUT_BYTES = 1024 ** 2
const PACK_MS = 120_000
const LEARN_MS = 120_000
/** Where the sandbox shows what the layer of the workspace stores. */
const CHANGES = '/changes'
/**
 * A program that waits for a file of the agent is unblocked so often while a command of the snapshot runs.
 */
const UNBLOCK_INTERVAL_MS = 2_000
const UNBLOCK_TIMEOUT_MS = 10_000
// A step waits for it, so it has normal priority.
const limits = {
  niceness: 0,
  max_memory_bytes: 2 * 1024 ** 3,
  max_processes: 64,
  max_disk_bytes: Number.POSITIVE_INFINITY,
  max_files: Number.POSITIVE_INFINITY,
  max_file_bytes: 2 * 1024 ** 3,
  max_tmp_bytes: 64 * 1024 ** 2,
  max_process_bytes: null,
}

type SnapshotSpec = {
  kept: CacheOwner
  /**
   * False: snapshots build on nothing that is stored. Git would look into each pack that is stored meanwhile,
   * in every snapshot.
   */
  borrows_kept: boolean
  /** The objects that the service writes for snapshots of this run. */
  written: WrittenObjects
  /** The run's workspace, and an empty folder of the sandbox's user beside it. */
  workspace: string
  shadow: string
  /** The layer through which the agent sees the workspace. */
  within?: Layer
  base_sha: string | null
  max_file_bytes: number
  max_bytes: number
  /** Processors that it may keep busy. */
  cpus: number
}

/**
 * A sandbox beside the run's own that sees the same files and that the agent cannot reach. Every method
 * rejects with SandboxError when git fails in it.
 */
export type SnapshotSandbox = AsyncDisposable & {
  readonly identity: string | null
  /** Prepares the sandbox and takes the first snapshot. */
  prepare(how: PreparedFiles, timeout_ms: number): Promise<Snapshot>
  /** Calls `captured` when the files may change again. */
  take(
    before: Snapshot,
    options: SnapshotOptions,
    captured: () => void,
    timeout_ms: number,
  ): Promise<TakenSnapshot>
  /** Streams a thin pack to `sink` and returns its commit. Throws errors of `sink`. */
  pack(input: PackInput, sink: (chunk: Uint8Array) => void): Promise<string>
}

/** Starts the sandbox; call `prepare` first. Rejects with SandboxError. */
export async function startSnapshotSandbox(
  driver: SandboxDriver,
  git: GitHost,
  spec: SnapshotSpec,
): Promise<SnapshotSandbox> {
  const { repository_id, run_id } = spec.kept
  const mirror = repository_id === null ? null : { host: mirrorPath(git, repository_id), inside: '/mirror' }
  const stored = spec.borrows_kept ? { host: objectCachePath(git, run_id), inside: '/kept' } : null
  const paths: CheckpointFolders = {
    files: '/files',
    shadow: '/workspace',
    mirror: mirror?.inside ?? null,
    kept: stored?.inside ?? null,
    base_sha: spec.base_sha,
    max_file_bytes: spec.max_file_bytes,
    max_bytes: spec.max_bytes,
  }
  const sandbox = await driver.start({
    workspace: spec.shadow,
    ...(spec.within && { within: spec.within }),
    read_only: [
      { host: spec.workspace, inside: paths.files },
      ...(spec.within ? [{ host: spec.within.changes, inside: CHANGES }] : []),
      ...(stored ? [stored] : []),
      ...(mirror ? [mirror] : []),
    ],
    limits: { ...limits, cpus: spec.cpus },
  })
  const shell = new SnapshotShell(sandbox, paths)
  const learn = gitLearner(sandbox, paths, spec)
  const program = new ChangesProgram(sandbox, listChangesCommand(paths, spec.within ? CHANGES : paths.files))
  const taker = new SnapshotTaker({
    program,
    written: spec.written,
    run: (command, timeout_ms, on_output) => shell.run(command, timeout_ms, on_output),
    learn,
    max_file_bytes: spec.max_file_bytes,
  })
  return {
    identity: sandbox.identity,
    async prepare(how, timeout_ms) {
      shell.defined = true
      return taker.first(prepareCommand(paths, how), timeout_ms)
    },
    take: (before, options, captured, timeout_ms) => taker.take(before, options, captured, timeout_ms),
    async pack(input, sink) {
      await learn(null)
      const result = await sandbox.stream(
        { command: packCommand(paths, input), timeout_ms: PACK_MS, max_output_bytes: 16 * 1024 },
        sink,
      )
      const tip = result.exit_code === 0 ? parseTip(result.output) : null
      if (tip === null) throw failure('The files could not be packed', result)
      return tip
    },
    [Symbol.asyncDispose]: () => sandbox.stop(),
  }
}

/** The shell of the sandbox in which git takes snapshots. */
class SnapshotShell {
  readonly #sandbox: Sandbox
  readonly #paths: CheckpointFolders
  /** A shell that was killed or failed has to define its functions again. */
  defined = true

  constructor(sandbox: Sandbox, paths: CheckpointFolders) {
    this.#sandbox = sandbox
    this.#paths = paths
  }

  async run(command: string, timeout_ms: number, on_output?: () => void): Promise<Uint8Array> {
    const complete = this.defined ? command : redefineCommand(this.#paths, command)
    using _ = startQuietPolling(UNBLOCK_INTERVAL_MS, () =>
      this.#sandbox.exec({
        command: unblockCommand(this.#paths),
        shell: 'separate',
        timeout_ms: UNBLOCK_TIMEOUT_MS,
        max_output_bytes: 1_000,
      }),
    )
    const result = await this.#sandbox.exec({
      command: complete,
      shell: 'persistent',
      timeout_ms,
      max_output_bytes: OUTPUT_BYTES,
      ...(on_output && { on_output }),
    })
    this.defined = result.exit_code === 0 && !result.truncated
    if (!this.defined) throw failure('The snapshot failed', result)
    return result.output
  }
}

/**
 * Returns a function that brings all objects that the service has written to git in the sandbox, and its
 * index to `tree` unless that is null.
 */
function gitLearner(
  sandbox: Sandbox,
  paths: CheckpointFolders,
  { written, borrows_kept }: SnapshotSpec,
): (tree: string | null) => Promise<void> {
  /** Packs that the sandbox does not have yet. */
  const packs: Buffer[] = []
  let last: Promise<void> = Promise.resolve()
  const learn = async (tree: string | null) => {
    const pack = await written.toGit()
    if (pack !== null && !borrows_kept) packs.push(pack)
    while (packs.length > 0 || tree !== null) {
      const [stdin] = packs
      const to = packs.length > 1 ? null : tree
      const result = await sandbox.exec({
        command: learnCommand(paths, { tree: to, has_pack: stdin !== undefined }),
        shell: 'separate',
        timeout_ms: LEARN_MS,
        max_output_bytes: 1_000,
        ...(stdin && { stdin }),
      })
      if (result.exit_code !== 0) throw failure('Git did not learn the files', result)
      packs.shift()
      if (packs.length === 0) return
    }
  }
  // A pack may be written beside the next snapshot.
  return tree => {
    const done = last.then(() => learn(tree))
    last = done.catch(() => {})
    return done
  }
}

/** Omits the output, which names files of the agent: the error is logged. */
function failure(what: string, { status, exit_code }: ExecResult): SandboxError {
  return new SandboxError(`${what}: ${status === 'exited' ? `git ended with code ${exit_code}` : status}`)
}
