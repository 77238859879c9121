import { startQuietPolling } from '../../core/polling.ts'
import { type CacheOwner, objectCachePath } from '../../git/objects/object-cache.ts'
import { type GitHost, mirrorPath } from '../../git/process/git-host.ts'
import {
  CAPTURED,
  type CheckpointFolders,
  type PackInput,
  type PreparedFiles,
  packCommand,
  parseSnapshot,
  parseTip,
  prepareCommand,
  redefineCommand,
  type Snapshot,
  snapshotCommand,
  unblockCommand,
} from '../../git/workspace/checkpoint-commands.ts'
import { incrementalCommand } from '../../git/workspace/incremental-snapshot.ts'
import { type ExecResult, type Layer, type SandboxDriver, SandboxError } from '../../sandbox/port.ts'
import { SnapshotProgram } from './snapshot-program.ts'

const OUTPUT_BYTES = 1024 ** 2
const PACK_MS = 120_000
/** Where the sandbox shows what the layer of the workspace stores. */
const CHANGES = '/changes'
/** In a request of the program: a head that may have changed. */
const ANY = 'any'
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
 * `stale`: a capture since the snapshot before has none. `largest_bytes`: no file that may have changed was
 * larger a moment ago. `complete`: git examines all files.
 */
type SnapshotOptions = { stale: boolean; largest_bytes: number; complete: boolean }

/** The trees of a snapshot from the changed paths and of git's, which examined all files. */
export type Difference = { incremental: string; complete: string }
/** `by_git`: git has examined all files. */
type SnapshotResult = { snapshot: Snapshot | null; differs: Difference | null; by_git: boolean }

/**
 * A sandbox beside the run's own that sees the same files and that the agent cannot reach. Every method
 * rejects with SandboxError when git fails in it.
 */
export type SnapshotSandbox = AsyncDisposable & {
  readonly identity: string | null
  /** Prepares the sandbox and takes the first snapshot. */
  prepare(how: PreparedFiles, timeout_ms: number): Promise<Snapshot>
  /** Null: nothing has changed since `before`. Calls `captured` when the files may change again. */
  take(
    before: Snapshot,
    options: SnapshotOptions,
    captured: () => void,
    timeout_ms: number,
  ): Promise<SnapshotResult>
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
  const program = new SnapshotProgram(sandbox, incrementalCommand(paths, spec.within ? CHANGES : paths.files))
  // A shell that was killed or failed has to define its functions again.
  let defined = true
  const run: RunCommand = async (command, timeout_ms, on_output) => {
    const complete = defined ? command : redefineCommand(paths, command)
    using _ = startQuietPolling(UNBLOCK_INTERVAL_MS, () =>
      sandbox.exec({
        command: unblockCommand(paths),
        shell: 'separate',
        timeout_ms: UNBLOCK_TIMEOUT_MS,
        max_output_bytes: 1_000,
      }),
    )
    const bounds = { timeout_ms, max_output_bytes: OUTPUT_BYTES }
    const result = await sandbox.exec({
      command: complete,
      shell: 'persistent',
      ...bounds,
      ...(on_output && { on_output }),
    })
    defined = result.exit_code === 0 && !result.truncated
    if (!defined) throw failure('The snapshot failed', result)
    return result.output
  }
  return {
    identity: sandbox.identity,
    async prepare(how, timeout_ms) {
      defined = true
      return readSnapshot(await run(prepareCommand(paths, how), timeout_ms)).snapshot
    },
    take: snapshotTaker(program, run, spec.max_file_bytes),
    async pack(input, sink) {
      const packed = await program.pack(input, PACK_MS)
      if (packed !== null) {
        sink(packed.content)
        return packed.tip
      }
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

type RunCommand = (command: string, timeout_ms: number, on_output?: () => void) => Promise<Uint8Array>

/** Takes snapshots with `program` where that is possible, and with git otherwise. */
function snapshotTaker(
  program: SnapshotProgram,
  run: RunCommand,
  max_file_bytes: number,
): SnapshotSandbox['take'] {
  const takeChanges = async (
    before: Snapshot,
    head: string | null,
    captured: () => void,
    timeout_ms: number,
  ) => {
    const taken = await program.take({ tree: before.tree, head }, captured, timeout_ms)
    return taken && { ...before, ...taken }
  }
  return async (before, { stale, largest_bytes, complete }, captured, timeout_ms) => {
    // The program knows nothing of files that are left out, or that are in no snapshot.
    const possible = !stale && before.left_out.length === 0
    if (possible && !complete) {
      const taken = await takeChanges(before, before.head, captured, timeout_ms)
      if (taken) return { snapshot: sameFiles(taken, before) ? null : taken, differs: null, by_git: false }
    }
    const expected = possible && complete ? await takeChanges(before, ANY, () => {}, timeout_ms) : null
    const from = stale ? { ...before, tree: 'none' } : (expected ?? before)
    const output = await run(snapshotCommand(from, largest_bytes <= max_file_bytes), timeout_ms, captured)
    if (Buffer.from(output).toString() === CAPTURED)
      return {
        snapshot: expected && !sameFiles(expected, before) ? expected : null,
        differs: null,
        by_git: true,
      }
    const { snapshot, files_tree } = readSnapshot(output)
    const differs = expected !== null && expected.tree !== files_tree
    return {
      snapshot,
      differs: differs ? { incremental: expected.tree, complete: files_tree } : null,
      by_git: true,
    }
  }
}

const sameFiles = (a: Snapshot, b: Snapshot) => a.tree === b.tree && a.branch === b.branch

function readSnapshot(output: Uint8Array) {
  const snapshot = parseSnapshot(output)
  if (snapshot === null) throw new SandboxError('The snapshot failed: git returned none')
  return snapshot
}

/** Omits the output, which names files of the agent: the error is logged. */
function failure(what: string, { status, exit_code }: ExecResult): SandboxError {
  return new SandboxError(`${what}: ${status === 'exited' ? `git ended with code ${exit_code}` : status}`)
}
