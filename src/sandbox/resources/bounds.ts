/** The limits of all processes of one sandbox together. */
export type ResourceBounds = {
  /** Bytes of memory, including the page cache of what they write where a control group counts it. */
  max_memory_bytes: number
  /** Processors, 1.5 for one and a half. */
  cpus: number
  /** Processes and threads. */
  max_processes: number
  /** 0: it does work of the service, for which a run waits, and gives way to nothing. */
  niceness?: number
}

/**
 * Maximum bytes in socket buffers: the kernel has a limit for the whole machine, whose services use TCP too.
 */
export const MAX_SOCKET_BYTES = 64 * 1024 ** 2

/** The current and total usage. Null: not measured on this machine. */
export type ResourceUsage = {
  memory_bytes: number
  peak_memory_bytes: number
  /** Processes that were killed because the memory was used up. */
  memory_kills: number
  cpu_ms: number | null
  /** Absent: not measured. Of the workspace: the highest measured value. */
  peak_processes?: number
  peak_disk_bytes?: number
}

export const no_usage: ResourceUsage = {
  memory_bytes: 0,
  peak_memory_bytes: 0,
  memory_kills: 0,
  cpu_ms: null,
}

/** The group of a running sandbox. */
export interface ResourceGroup {
  /**
   * Adds a process, and with it all that it starts from then on. The kernel may take milliseconds. Rejects
   * with the file system's error.
   */
  add(pid: number): Promise<void>
  usage(): ResourceUsage
  /** Called when no process is left. */
  close(): Promise<void>
}

/** The engine that limits all resources of the sandboxes that it starts. */
export type EngineName = 'docker' | 'podman' | 'kubernetes'

/**
 * How each resource is limited on this machine. `niceness`: a busy sandbox gives way to the service, but has
 * no limit.
 */
export type ResourceMeans = {
  memory: 'cgroup v2' | 'cgroup v1' | 'watchdog' | EngineName
  cpu: 'cgroup v2' | 'cgroup v1' | 'niceness' | EngineName
  processes: 'cgroup v2' | 'cgroup v1' | 'rlimit' | EngineName
}

export interface ResourceControl {
  readonly means: ResourceMeans
  /** Throws the file system's error when no group can be created. */
  open(bounds: ResourceBounds): ResourceGroup
}
