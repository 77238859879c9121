import type { Sandbox } from '../port.ts'
import type { EngineName, ResourceBounds, ResourceUsage } from '../resources/bounds.ts'

/**
 * Starts containers, and ends those that are left over. All other communication uses pipes in a shared
 * folder, so a container must run on this machine, on the same kernel. Failure contract: `prepare` and
 * `start` reject with SandboxError, whose one line states what to do, and leave nothing behind. `end`
 * resolves when nothing is left of that container, even if it was gone before, and rejects when the engine
 * does not respond.
 */
export interface ContainerEngine {
  readonly name: EngineName
  /** Runs first, and again before each claim: checks that the engine responds and has what it needs. */
  prepare(): Promise<void>
  /** Resolves when the engine reports that the container has started. */
  start(spec: ContainerSpec): Promise<Container>
  end(identity: string): Promise<void>
  /**
   * The host cannot see a container's control groups: process 1 limits the processes and reports their usage.
   */
  readonly watched_from_inside?: true
  /**
   * Returns what a sandbox can reach and must not, as text for the operator; null when nothing. Absent: it
   * has no network at all.
   */
  findReachable?(sandbox: Sandbox): Promise<string | null>
}

export type ContainerSpec = {
  /** The program of process 1 and its parameters. */
  command: string[]
  /** Its complete environment. */
  environment: Record<string, string>
  /** The user of everything in it, as the host counts. */
  user: { uid: number; gid: number }
  /** Folders, files and sockets of the host. A mount below another one comes after it. */
  mounts: { host: string; inside: string; writable: boolean }[]
  /** Empty writable folders in memory. */
  memory_folders: { inside: string; bytes: number }[]
  /** Maximum bytes of /dev/shm. */
  shared_memory_bytes: number
  bounds: ResourceBounds
  max_open_files: number
}

export type Container = {
  /** Identifies it for `end`, from any process, until this machine reboots. */
  readonly identity: string
  /** The host's id of its process 1; 0 where it is not visible. */
  readonly pid: number
  /**
   * Its last usage, also after its end; 0 and null where it cannot be read. Not called for engines with
   * `watched_from_inside`.
   */
  usage(): ResourceUsage
  /** Ends it immediately. Resolves when no process of it is left. */
  stop(): Promise<void>
  /** Resolves when its last process has ended, for any reason, with one line about why; '' when unknown. */
  readonly ended: Promise<string>
}
