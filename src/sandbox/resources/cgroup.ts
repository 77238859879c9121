import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processIdentity } from '../../system/process-identity.ts'
import { signalProcess, waitUntil } from '../../system/processes.ts'
import {
  MAX_SOCKET_BYTES,
  no_usage,
  type ResourceBounds,
  type ResourceGroup,
  type ResourceUsage,
} from './bounds.ts'

/**
 * Folders in which groups of sandboxes are created, by controller; those of version 2 are the same folder.
 */
export type GroupFolders = { version: 1 | 2; memory?: string; cpu?: string; cpuacct?: string; pids?: string }

const PERIOD_US = 100_000
/**
 * Those of the service and the database, by version. A sandbox that gives way gets a quarter of them when all
 * want the processor.
 */
const SHARES = { 1: 1024, 2: 100 }
const shareOf = (version: 1 | 2, { niceness }: ResourceBounds) =>
  String(niceness === 0 ? SHARES[version] : SHARES[version] / 4)
/** A process that has ended is still counted until its parent has read its exit code. */
const EMPTY_MS = 5_000
const PREFIX = 'agentrun-'

let count = 0

/** Creates the group of one sandbox in each folder, with its limits. Leaves none behind when it throws. */
export function openGroup(folders: GroupFolders, bounds: ResourceBounds): ResourceGroup {
  const name = `${PREFIX}${process.pid}-${startOf(process.pid)}-${++count}`
  const groups = [...new Set([folders.memory, folders.cpu, folders.cpuacct, folders.pids])].flatMap(parent =>
    parent === undefined ? [] : [join(parent, name)],
  )
  const at = (controller: 'memory' | 'cpu' | 'cpuacct' | 'pids', file: string) =>
    join(folders[controller] ?? '', name, file)
  try {
    for (const group of groups) mkdirSync(group)
    if (folders.version === 2) bound2(folders, at, bounds)
    else bound1(folders, at, bounds)
  } catch (error) {
    for (const group of groups) removeGroup(group)
    throw error
  }
  let last: ResourceUsage = no_usage
  const usage = () => {
    last = readUsage(folders.version, at, last)
    return last
  }
  let closed = false
  return {
    async add(pid) {
      await Promise.all(groups.map(group => writeFile(join(group, 'cgroup.procs'), String(pid))))
    },
    usage: () => (closed ? last : usage()),
    async close() {
      if (closed) return
      usage()
      closed = true
      await waitUntil(() => groups.map(removeGroup).every(gone => gone), EMPTY_MS)
    },
  }
}

/** Returns the usage of a group; `last`: the previous usage. Everything is 0 for a group that is gone. */
export function readUsage(version: 1 | 2, at: At, last: ResourceUsage): ResourceUsage {
  const v2 = version === 2
  const cpu_ms = v2
    ? Number(/^usage_usec (\d+)$/m.exec(read(at('cpu', 'cpu.stat')))?.[1] ?? Number.NaN) / 1_000
    : Number(read(at('cpuacct', 'cpuacct.usage')) || Number.NaN) / 1e6
  const memory_bytes = Number(read(at('memory', v2 ? 'memory.current' : 'memory.usage_in_bytes')))
  // Version 2 reports its peak since Linux 5.19.
  const peak = Number(read(at('memory', v2 ? 'memory.peak' : 'memory.max_usage_in_bytes')))
  // Version 1 reports no peak: the highest value that was read.
  const processes = Math.max(
    Number(read(at('pids', v2 ? 'pids.peak' : 'pids.current'))),
    last.peak_processes ?? 0,
  )
  return {
    memory_bytes,
    ...(processes > 0 && { peak_processes: processes }),
    peak_memory_bytes: Math.max(peak, memory_bytes, last.peak_memory_bytes),
    memory_kills: Number(
      /^oom_kill (\d+)$/m.exec(read(at('memory', v2 ? 'memory.events' : 'memory.oom_control')))?.[1] ?? 0,
    ),
    cpu_ms: Number.isNaN(cpu_ms) ? null : cpu_ms,
  }
}

/** Returns the path of a file of the group of a controller. */
type At = (controller: 'memory' | 'cpu' | 'cpuacct' | 'pids', file: string) => string

function bound2(folders: GroupFolders, at: At, bounds: ResourceBounds): void {
  const { max_memory_bytes, cpus, max_processes } = bounds
  if (folders.memory !== undefined) {
    writeFileSync(at('memory', 'memory.max'), String(max_memory_bytes))
    optional(() => writeFileSync(at('memory', 'memory.swap.max'), '0'))
  }
  if (folders.cpu !== undefined) {
    writeFileSync(at('cpu', 'cpu.max'), `${Math.round(cpus * PERIOD_US)} ${PERIOD_US}`)
    optional(() => writeFileSync(at('cpu', 'cpu.weight'), shareOf(2, bounds)))
  }
  if (folders.pids !== undefined) writeFileSync(at('pids', 'pids.max'), String(max_processes))
}

function bound1(folders: GroupFolders, at: At, bounds: ResourceBounds): void {
  const { max_memory_bytes, cpus, max_processes } = bounds
  if (folders.memory !== undefined) {
    writeFileSync(at('memory', 'memory.limit_in_bytes'), String(max_memory_bytes))
    // Together with swap, which a kernel may not count: then the limit has no effect.
    optional(() => writeFileSync(at('memory', 'memory.memsw.limit_in_bytes'), String(max_memory_bytes)))
    optional(() => writeFileSync(at('memory', 'memory.swappiness'), '0'))
    boundSockets(at('memory', '.'))
  }
  if (folders.cpu !== undefined) {
    writeFileSync(at('cpu', 'cpu.cfs_period_us'), String(PERIOD_US))
    writeFileSync(at('cpu', 'cpu.cfs_quota_us'), String(Math.round(cpus * PERIOD_US)))
    optional(() => writeFileSync(at('cpu', 'cpu.shares'), shareOf(1, bounds)))
  }
  if (folders.pids !== undefined) writeFileSync(at('pids', 'pids.max'), String(max_processes))
}

/** Bounds socket buffers under version 1, where socket buffers are counted separately, or not at all. */
export function boundSockets(group: string): void {
  optional(() => writeFileSync(join(group, 'memory.kmem.tcp.limit_in_bytes'), String(MAX_SOCKET_BYTES)))
}

/**
 * Removes the groups of processes that are gone, with the processes in them: a sandbox ends with its worker,
 * but a bubblewrap that was killed during a start leaves a process behind that waits for it forever.
 */
export function removeLeftGroups(folders: GroupFolders): void {
  for (const parent of new Set([folders.memory, folders.cpu, folders.cpuacct, folders.pids])) {
    if (parent === undefined) continue
    for (const name of readdirSync(parent)) {
      const [, pid, start] = /^agentrun-(\d+)-(\d+)-\d+$/.exec(name) ?? []
      if (pid === undefined || startOf(Number(pid)) === start) continue
      const group = join(parent, name)
      for (const left of read(join(group, 'cgroup.procs')).split('\n').filter(Boolean).map(Number))
        if (left > 1 && left !== process.pid) optional(() => signalProcess(left, 'SIGKILL'))
      void waitUntil(() => removeGroup(group), EMPTY_MS)
    }
  }
}

/** Returns false while it contains a process. */
function removeGroup(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** Returns when a process started, in ticks since boot: a reused pid has another value. */
const startOf = (pid: number) => processIdentity(pid)?.split(' ')[3] ?? ''

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function optional(write: () => void): void {
  try {
    write()
  } catch {}
}
