import type { Writable } from 'node:stream'
import type { ResourceMeans, ResourceUsage } from './resources/bounds.ts'

/**
 * A sandbox holds one run's workspace and runs everything the agent requests: commands and file access.
 * Nothing outside may be reachable from it, and the host never reads files of the workspace itself (their
 * metadata: decisions.md#no-snapshot-of-unchanged-files). Failure contract, the same for every driver:
 * - `start` rejects with SandboxError and leaves no process behind.
 * - `exec` never rejects because of the command: a failed, killed or silent command is an ExecResult. It
 *   rejects with SandboxLostError only when the sandbox itself is gone; a lost sandbox is never silently
 *   replaced.
 * - `end` resolves when nothing is left of that sandbox, regardless of the process that started it; it
 *   rejects when something remains.
 * - A sandbox ends by itself when the process that started it has ended, or has not run, for example because
 *   it is frozen, for 10 s.
 * - `stop` always resolves, is safe to call twice, and when it has resolved no process of the sandbox is
 *   alive.
 */
export interface SandboxDriver {
  readonly name: string
  /** Where addons find the headers of the Node inside, in `include/node`; null: they must download them. */
  readonly node_folder: string | null
  /**
   * Returns how the limits of a sandbox are enforced on this machine. Throws SandboxError when this machine
   * cannot run sandboxes.
   */
  means(): ResourceMeans
  /** Proves on this machine that a sandbox isolates. `reason` is one line that states what to do. */
  selfTest(): Promise<{ ok: true } | { ok: false; reason: string }>
  start(spec: SandboxSpec): Promise<Sandbox>
  /**
   * Ends the rest of sandboxes, one per line, that another process started on this machine. Does nothing when
   * it is gone, or belongs to another machine.
   */
  end(identity: string): Promise<void>
  /** Absent: this driver mounts folders only as they are. */
  readonly layers?: LayerDriver
  /**
   * Returns the bytes of the largest file that a workspace has, or that differs from the layer it is a copy
   * of, a blank, and a digest that differs after each change of its files, unless two changes are less than
   * 10 ms apart. Null: it is unknown, because there are too many files or they cannot be read. Absent:
   * another machine may write them.
   */
  filesState?(workspace: string, layered: boolean): Promise<string | null>
}

/**
 * Mounts a folder as a copy-on-write overlay of another one: unchanged files are read from the base, changes
 * are stored separately.
 */
export type LayerDriver = {
  /** Proves with files below `folder`, which exists, that overlays work there. `reason` is one line. */
  selfTest(folder: string): Promise<{ ok: true } | { ok: false; reason: string }>
  /**
   * Each `folder`, owned by the sandbox's user, stores what differs from its `base`: it is empty, or was a
   * layer on the same base before, of a layer that has ended. `base` is never written, must not change, and
   * may have many layers. Rejects with SandboxError and leaves no process behind.
   */
  open(copies: readonly Copy[]): Promise<Layer>
}

export type Copy = { folder: string; base: string }

/**
 * Sandboxes that are started `settledWithin` it see each copy at the path of its folder, and share it.
 * Dispose it after them.
 */
export type Layer = AsyncDisposable & {
  /** Identifies it for `end`. */
  readonly identity: string
  /**
   * Host path at which sandboxes that are started `settledWithin` it see what the first copy stores: each
   * file that was written, and each folder in which a name was added or removed.
   */
  readonly changes: string
}

export type SandboxSpec = {
  /**
   * Host folder that becomes /workspace, writable. It exists, is empty or was written by an earlier sandbox
   * of the same run.
   */
  workspace: string
  /**
   * Host folder that becomes the home folder and persists; it counts against the limits of the workspace.
   * Without it the home is in memory and ends with the sandbox.
   */
  home?: string
  /** The mount namespace in which host paths are resolved; default: the host's. */
  within?: Layer
  /** Further host paths shown read-only inside: the run's mirror, and nothing else. */
  read_only: { host: string; inside: string }[]
  /** Unix sockets of the host shown inside, and nothing else of its network. */
  sockets?: SandboxSocket[]
  /**
   * Environment variables of all processes inside. The variables of the base environment win; `start` rejects
   * an invalid name.
   */
  environment?: Record<string, string>
  limits: SandboxLimits
}

/**
 * `port`: a connection to 127.0.0.1:port inside reaches the socket too, from the first command of the
 * persistent shell on.
 */
export type SandboxSocket = { host: string; inside: string; port?: number }

export type SandboxLimits = {
  /**
   * Bytes of memory of all processes inside together, including /tmp and the home folder where the kernel
   * counts them.
   */
  max_memory_bytes: number
  /**
   * Processors that they may keep busy, 1.5 for one and a half; a bound only where the kernel enforces it.
   */
  cpus: number
  /** Processes and threads inside. */
  max_processes: number
  /**
   * Bytes of /workspace on the disk, and its number of files, folders and links. Above it running commands
   * are killed.
   */
  max_disk_bytes: number
  max_files: number
  /** Maximum bytes of a single file. */
  max_file_bytes: number
  /** Maximum bytes of /tmp, /dev/shm and the home folder, each. */
  max_tmp_bytes: number
  /**
   * Maximum address space of a single process in bytes; null: no limit. Programs reserve far more than they
   * use.
   */
  max_process_bytes: number | null
  /**
   * The `nice` value of the persistent shell, which gives way to the service and the database, as the whole
   * sandbox does unless it is 0. Default 10.
   */
  niceness?: number
}

export type ExecRequest = {
  /**
   * A bash command line. With `shell: 'persistent'` the working directory, variables and functions survive
   * it.
   */
  command: string
  /**
   * `persistent`: the run's one shell, commands queue. `separate`: a new process beside it, in /workspace,
   * unaffected by what the agent did to its shell.
   */
  shell: 'persistent' | 'separate'
  timeout_ms: number
  /**
   * Bytes of output kept: the first half and the last half; above it `truncated` is set and the middle is
   * dropped.
   */
  max_output_bytes: number
  /** Standard input of the command; `separate` only. Without it stdin is empty. */
  stdin?: Uint8Array
  /** Kills the command (SIGKILL to its whole tree); the result is `interrupted`. */
  signal?: AbortSignal
  /**
   * Receives raw output immediately, standard output and standard error mixed; for the live view. Calls stop
   * at max_output_bytes.
   */
  on_output?: (chunk: Uint8Array) => void
}

/** The size of a workspace on disk. `files`: everything that has an inode, folders and links included. */
export type WorkspaceSize = { bytes: number; files: number }

export type ExecResult = {
  /** `disk_limit`: the workspace exceeds its limit, regardless of the command that filled it. */
  status: 'exited' | 'timeout' | 'interrupted' | 'output_limit' | 'disk_limit'
  /**
   * 0–255; null when the service killed the command. A command killed by a signal n reports 128 + n, as a
   * shell does.
   */
  exit_code: number | null
  /** Standard output and standard error mixed, in the order written. */
  output: Uint8Array
  /** Total bytes that the command wrote and that were read. */
  output_bytes: number
  truncated: boolean
  duration_ms: number
  /** True when the persistent shell had to be restarted: its directory and variables are lost. */
  shell_restarted: boolean
  /**
   * Processes that were killed meanwhile because the memory of the sandbox was used up, including those of
   * other commands.
   */
  memory_kills: number
  /** The size of the workspace that caused the kill; null unless `disk_limit`. */
  size: WorkspaceSize | null
}

/** A program that exchanges messages with the service over its standard streams. */
export type ProcessRequest = {
  /** A bash command line, executed as `separate`; `exec PROGRAM` makes the program its only process. */
  command: string
  /** Bytes of standard error kept, as for `ExecRequest`. */
  max_output_bytes: number
  /** Kills the process and what it started. */
  signal?: AbortSignal
  /**
   * Kills what it started also when it ends by itself, processes that left its group or session included.
   * Default false.
   */
  kills_descendants?: boolean
  /**
   * Receives standard output in order; nothing more is read while its promise is pending. An error kills the
   * process and rejects `ended`.
   */
  on_stdout: (chunk: Uint8Array) => Promise<void> | void
}

export type OpenProcess = {
  /**
   * Its standard input. A write ends when the process, or the pipe to it, has taken it; `end` closes it.
   * Destroyed when the process has ended.
   */
  readonly stdin: Writable
  /** Its end, with standard error as `output`. Rejects with SandboxLostError when the sandbox is gone. */
  readonly ended: Promise<ExecResult>
}

export interface Sandbox extends AsyncDisposable {
  readonly workspace: string
  readonly limits: SandboxLimits
  /** The current and total usage of its processes; after its end, the last values. */
  usage(): ResourceUsage
  /** Identifies it for `end`, until this machine reboots. Null when it ended immediately. */
  readonly identity: string | null
  exec(request: ExecRequest): Promise<ExecResult>
  /**
   * Runs a command as `separate` and streams its standard output, unbuffered, to `sink`; standard error is in
   * the result's output. For bundles.
   */
  stream(
    request: Omit<ExecRequest, 'shell' | 'on_output'>,
    sink: (chunk: Uint8Array) => Promise<void> | void,
  ): Promise<ExecResult>
  /**
   * Starts a program with connected standard streams and no time limit. Up to 8 at once; further ones start
   * when one has ended. Close its input or abort its signal to end it.
   */
  openProcess(request: ProcessRequest): OpenProcess
  /** Kills everything inside. Resolves when nothing is left. */
  stop(): Promise<void>
  /** Resolves when the sandbox has ended for any reason. */
  readonly ended: Promise<void>
}

export class SandboxError extends Error {
  override name = 'SandboxError'
}
export class SandboxLostError extends SandboxError {
  override name = 'SandboxLostError'
  /** It ended because its processes used up its memory: a new sandbox would end the same way. */
  readonly out_of_memory: boolean

  constructor(message: string, options: ErrorOptions & { out_of_memory?: boolean } = {}) {
    super(message, options)
    this.out_of_memory = options.out_of_memory ?? false
  }
}
