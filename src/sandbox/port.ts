import type { ResourceMeans, ResourceUsage } from './resources/bounds.ts'
import type { WorkspaceSize } from './workspaces/workspace-size.ts'

/**
 * A sandbox holds one run's workspace and runs everything the agent asks for: commands and file access alike.
 * Nothing outside may be reachable from it, and the host never reads the workspace itself.
 *
 * Failure contract, the same for every driver:
 * - `start` rejects with SandboxError and leaves no process behind.
 * - `exec` never rejects because of what the command did: a failed, killed or silent command is an ExecResult.
 *   It rejects with SandboxLostError only when the sandbox itself is gone; a lost sandbox is never silently replaced.
 * - `end` resolves when nothing is left of that sandbox, whoever started it; it rejects when something does not go.
 * - A sandbox ends by itself when the process that started it has ended, or has had no time to run, say because it is frozen, for 10 s.
 * - `stop` always resolves, is safe to call twice, and when it has resolved no process of the sandbox is alive.
 */
export interface SandboxDriver {
  readonly name: string
  /** Where addons find the headers of the Node inside, in `include/node`; null: they have to ask for them. */
  readonly node_folder: string | null
  /** By what the limits of a sandbox are held on this machine. Throws SandboxError when this machine cannot have sandboxes. */
  means(): ResourceMeans
  /** Proves on this machine that a sandbox isolates. `reason` is one line that says what to do. */
  selfTest(): Promise<{ ok: true } | { ok: false; reason: string }>
  start(spec: SandboxSpec): Promise<Sandbox>
  /** Ends what is left of sandboxes, a line each, that another process started on this machine. Nothing happens when it is gone, or another machine's. */
  end(identity: string): Promise<void>
  /** Absent: this driver shows folders only as they are. */
  readonly layers?: LayerDriver
}

/** Shows a folder as a copy of another one that nothing is copied for: what is the same is read from there, what is changed is kept apart. */
export type LayerDriver = {
  /** Proves with files below `folder`, which exists, that it can be done there. `reason` is one line. */
  selfTest(folder: string): Promise<{ ok: true } | { ok: false; reason: string }>
  /**
   * Each `folder`, of the sandbox's user, keeps what differs from its `base`: it is empty, or was a layer on the same base before, by one that
   * has ended. `base` is never written, must not change, and may have many layers. Rejects with SandboxError and leaves no process behind.
   */
  open(copies: readonly Copy[]): Promise<Layer>
}

export type Copy = { folder: string; base: string }

/** Sandboxes that are started `within` it see each copy at the path of its folder, all of them the same one. Disposed of after them. */
export type Layer = AsyncDisposable & {
  /** Names it for `end`. */
  readonly identity: string
}

export type SandboxSpec = {
  /** Host folder that becomes /workspace, writable. It exists, is empty or was written by an earlier sandbox of the same run. */
  workspace: string
  /** Host folder that becomes the home folder and stays; it counts to the limits of the workspace. Without it the home is in memory and goes with the sandbox. */
  home?: string
  /** Where the paths of the host that it is made of are looked for; default: as the host sees them. */
  within?: Layer
  /** Further host paths shown read-only inside: the run's mirror, and nothing else. */
  read_only: { host: string; inside: string }[]
  /** Unix sockets of the host shown inside, and nothing else of its network. */
  sockets?: SandboxSocket[]
  /** Variables of what runs inside. Those that every sandbox has win; a name that is no name of a variable is refused by `start`. */
  environment?: Record<string, string>
  limits: SandboxLimits
}

/** `port`: what connects to 127.0.0.1:port inside talks to the socket too, from the first command of the persistent shell on. */
export type SandboxSocket = { host: string; inside: string; port?: number }

export type SandboxLimits = {
  /** Bytes of memory that all processes inside take together, /tmp and the home folder included where the kernel counts. */
  max_memory_bytes: number
  /** Processors that they may keep busy, 1.5 for one and a half; a bound only where the kernel holds it. */
  cpus: number
  /** Processes and threads inside. */
  max_processes: number
  /** Bytes that /workspace may take on the disk, and files, folders and links that it may hold. Beyond it what runs is killed. */
  max_disk_bytes: number
  max_files: number
  /** Bytes a single file may have. */
  max_file_bytes: number
  /** Bytes of /tmp and of the home folder, each. */
  max_tmp_bytes: number
  /** Bytes of address space a single process may have. */
  max_process_bytes: number
  /** How far the persistent shell steps back behind the service and the database, as `nice` counts. Default 10. */
  niceness?: number
}

export type ExecRequest = {
  /** A bash command line. With `shell: 'persistent'` the working directory, variables and functions outlive it. */
  command: string
  /** `persistent`: the run's one shell, commands queue. `separate`: a fresh process beside it, in /workspace, untouched by what the agent did to its shell. */
  shell: 'persistent' | 'separate'
  timeout_ms: number
  /** Bytes of output kept: the first half and the last half; beyond it `truncated` is set and the middle dropped. */
  max_output_bytes: number
  /** Given to the command as standard input; `separate` only. Without it stdin is empty. */
  stdin?: Uint8Array
  /** Kills the command (SIGKILL to its whole tree); the result says `interrupted`. */
  signal?: AbortSignal
  /** Raw output as it comes, standard output and standard error mixed; for the live view. Calls stop at max_output_bytes. */
  on_output?: (chunk: Uint8Array) => void
}

export type ExecResult = {
  /** `disk_limit`: the workspace holds more than it may, whoever filled it. */
  status: 'exited' | 'timeout' | 'interrupted' | 'output_limit' | 'disk_limit'
  /** 0–255; null when the command was killed by us. A command killed by a signal n reports 128 + n, as a shell does. */
  exit_code: number | null
  /** Standard output and standard error mixed, in the order written. */
  output: Uint8Array
  /** Bytes the command wrote in all, as far as they were read. */
  output_bytes: number
  truncated: boolean
  duration_ms: number
  /** True when the persistent shell had to be started anew: its directory and variables are lost. */
  shell_restarted: boolean
  /** Processes that were killed meanwhile because the memory of the sandbox was used up, whoever had started them. */
  memory_kills: number
  /** What the workspace held when everything inside was killed for it; null unless `disk_limit`. */
  size: WorkspaceSize | null
}

export interface Sandbox extends AsyncDisposable {
  readonly workspace: string
  readonly limits: SandboxLimits
  /** What its processes take and took together; after its end, what they took last. */
  usage(): ResourceUsage
  /** Names it for `end`, for as long as this machine is up. Null when it ended at once. */
  readonly identity: string | null
  exec(request: ExecRequest): Promise<ExecResult>
  /** Runs a command as `separate` and streams its standard output, unbuffered, to `sink`; standard error is in the result's output. For bundles. */
  stream(request: Omit<ExecRequest, 'shell' | 'on_output'>, sink: (chunk: Uint8Array) => Promise<void> | void): Promise<ExecResult>
  /** Kills everything inside. Resolves when nothing is left. */
  stop(): Promise<void>
  /** Resolves when the sandbox has ended for whatever reason. */
  readonly ended: Promise<void>
}

export class SandboxError extends Error {
  override name = 'SandboxError'
}
export class SandboxLostError extends SandboxError {
  override name = 'SandboxLostError'
  /** It ended because what ran in it used up its memory: in a new sandbox the same would happen. */
  readonly out_of_memory: boolean

  constructor(message: string, options: ErrorOptions & { out_of_memory?: boolean } = {}) {
    super(message, options)
    this.out_of_memory = options.out_of_memory ?? false
  }
}
