import type { Sandbox } from '../port.ts'
import type { EngineName, ResourceBounds, ResourceUsage } from '../resources/bounds.ts'

/**
 * What a container engine is asked for: to start a container, and to end what is left of one. Everything else is said by pipes in a folder
 * that both sides see, so a container must run on this machine, on the same kernel.
 *
 * Failure contract: `prepare` and `start` reject with SandboxError, whose one line says what to do, and leave nothing behind. `end` resolves
 * when nothing is left of that container, also of one that was gone before, and rejects when the engine cannot be asked.
 */
export interface ContainerEngine {
  readonly name: EngineName
  /** Before anything else, and again each time work is to be taken: whether the engine answers and has what it needs. */
  prepare(): Promise<void>
  /** Resolves when the engine says that it has started it. */
  start(spec: ContainerSpec): Promise<Container>
  end(identity: string): Promise<void>
  /** The host sees nothing of a container's control groups: process 1 bounds the processes and tells what they take. */
  readonly watched_from_inside?: true
  /** What a sandbox can reach that it must not, as words for the operator, null when all is well. Absent: it has no network at all. */
  findReachable?(sandbox: Sandbox): Promise<string | null>
}

export type ContainerSpec = {
  /** The program of process 1 and its parameters. */
  command: string[]
  /** All of its environment. */
  environment: Record<string, string>
  /** Of everything in it, as the host counts. */
  user: { uid: number; gid: number }
  /** Folders, files and sockets of the host. Where `inside` lies below another one's, it comes after it. */
  mounts: { host: string; inside: string; writable: boolean }[]
  /** Empty writable folders in memory. */
  memory_folders: { inside: string; bytes: number }[]
  bounds: ResourceBounds
  max_open_files: number
}

export type Container = {
  /** Names it for `end`, whichever process asks, until this machine starts again. */
  readonly identity: string
  /** Its process 1 as this machine counts; 0 where it cannot be seen. */
  readonly pid: number
  /** After its end, what it took last; 0 and null where nobody may read it. Not asked where containers are watched from inside. */
  usage(): ResourceUsage
  /** Ends it at once. Resolves when no process of it is left. */
  stop(): Promise<void>
  /** Resolves when its last process has ended, for whatever reason, with one line about why; '' when there is nothing to say. */
  readonly ended: Promise<string>
}
