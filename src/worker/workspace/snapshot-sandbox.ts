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
import { type ExecResult, type Layer, type SandboxDriver, SandboxError } from '../../sandbox/port.ts'

const OUTPUT_BYTES = 1024 ** 2
const PACK_MS = 120_000
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
 * larger a moment ago.
 */
type TakenSnapshot = { stale: boolean; largest_bytes: number }

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
    how: TakenSnapshot,
    captured: () => void,
    timeout_ms: number,
  ): Promise<Snapshot | null>
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
      ...(stored ? [stored] : []),
      ...(mirror ? [mirror] : []),
    ],
    limits: { ...limits, cpus: spec.cpus },
  })
  // A shell that was killed or failed has to define its functions again.
  let defined = true
  const run = async (command: string, timeout_ms: number, on_output?: () => void): Promise<Uint8Array> => {
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
      return readSnapshot(await run(prepareCommand(paths, how), timeout_ms))
    },
    async take(before, { stale, largest_bytes }, captured, timeout_ms) {
      const small = largest_bytes <= spec.max_file_bytes
      const output = await run(
        snapshotCommand(stale ? { ...before, tree: 'none' } : before, small),
        timeout_ms,
        captured,
      )
      return Buffer.from(output).toString() === CAPTURED ? null : readSnapshot(output)
    },
    async pack(input, sink) {
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

function readSnapshot(output: Uint8Array): Snapshot {
  const snapshot = parseSnapshot(output)
  if (snapshot === null) throw new SandboxError('The snapshot failed: git returned none')
  return snapshot
}

/** Omits the output, which names files of the agent: the error is logged. */
function failure(what: string, { status, exit_code }: ExecResult): SandboxError {
  return new SandboxError(`${what}: ${status === 'exited' ? `git ended with code ${exit_code}` : status}`)
}
