/** What all processes of one sandbox may take together. */
export type ResourceBounds = {
  /** Bytes of memory, page cache of what they write included where a control group counts it. */
  max_memory_bytes: number
  /** Processors, 1.5 for one and a half. */
  cpus: number
  /** Processes and threads. */
  max_processes: number
}

/** What may wait in sockets of the internet: the kernel has a bound for the whole machine, and its services speak TCP too. */
export const MAX_SOCKET_BYTES = 64 * 1024 ** 2

/** What they take and took. Null: nobody counts it on this machine. */
export type ResourceUsage = {
  memory_bytes: number
  peak_memory_bytes: number
  /** Processes that were killed because the memory was used up. */
  memory_kills: number
  cpu_ms: number | null
  /** Absent: nobody has counted them. Of the workspace: the most that was found by whoever bounds it. */
  peak_processes?: number
  peak_disk_bytes?: number
}

export const no_usage: ResourceUsage = { memory_bytes: 0, peak_memory_bytes: 0, memory_kills: 0, cpu_ms: null }

/** Of a running sandbox. */
export interface ResourceGroup {
  /** Takes in a process, and with it all that it starts from then on. */
  add(pid: number): void
  usage(): ResourceUsage
  /** Called when no process is left. */
  close(): Promise<void>
}

/** Who bounds all resources of the sandboxes that it starts. */
export type EngineName = 'docker' | 'podman' | 'kubernetes'

/** By what each resource is bounded on this machine. `niceness`: a busy sandbox steps back behind the service, but has no bound. */
export type ResourceMeans = {
  memory: 'cgroup v2' | 'cgroup v1' | 'watchdog' | EngineName
  cpu: 'cgroup v2' | 'cgroup v1' | 'niceness' | EngineName
  processes: 'cgroup v2' | 'cgroup v1' | 'rlimit' | EngineName
}

export interface ResourceControl {
  readonly means: ResourceMeans
  /** Throws the file system's error when no group can be made. */
  open(bounds: ResourceBounds): ResourceGroup
}
