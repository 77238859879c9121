import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ResourceBounds, ResourceControl, ResourceMeans } from './bounds.ts'
import { type GroupFolders, openGroup, removeLeftGroups } from './cgroup.ts'
import { type OwnGroups, ownGroups } from './cgroup-paths.ts'
import { openWatchdog } from './memory-watchdog.ts'

const CONTROLLERS = ['memory', 'cpu', 'pids'] as const
/** In version 2 a group with subgroups may contain no process: the service moves into this one. */
const OWN_LEAF = 'agentrun-service'
/** Other processes on this machine may have died since the start. */
const SWEEP_MS = 60_000
const TRIAL: ResourceBounds = { max_memory_bytes: 64 * 1024 ** 2, cpus: 1, max_processes: 64 }

/**
 * Detects how the sandboxes of this process are limited: control groups below its own, version 2 or 1, each
 * controller that can be written; the rest by a watchdog, by niceness and by process limits. Each mechanism
 * is tested. Removes what processes that are gone have left.
 */
export function detectResources(
  read: (path: string) => string = path => readFileSync(path, 'utf8'),
): ResourceControl {
  const folders = usable(candidates(read))
  if (folders === null) return control({ version: 2 })
  removeLeftGroups(folders)
  return control(folders)
}

function control(folders: GroupFolders): ResourceControl {
  const version = `cgroup v${folders.version}` as const
  const means: ResourceMeans = {
    memory: folders.memory === undefined ? 'watchdog' : version,
    cpu: folders.cpu === undefined ? 'niceness' : version,
    processes: folders.pids === undefined ? 'rlimit' : version,
  }
  let swept_at = performance.now()
  return {
    means,
    open(bounds) {
      if (performance.now() - swept_at > SWEEP_MS) {
        swept_at = performance.now()
        removeLeftGroups(folders)
      }
      const groups = openGroup(folders, bounds)
      if (folders.memory !== undefined) return groups
      const watchdog = openWatchdog(bounds.max_memory_bytes)
      return {
        async add(pid) {
          await Promise.all([groups.add(pid), watchdog.add(pid)])
        },
        usage: () => ({ ...watchdog.usage(), cpu_ms: groups.usage().cpu_ms }),
        close: async () => void (await Promise.all([groups.close(), watchdog.close()])),
      }
    },
  }
}

/** The version with more controllers first. */
function candidates(read: (path: string) => string): GroupFolders[] {
  try {
    const own = ownGroups(read('/proc/self/cgroup'), read('/proc/self/mountinfo'))
    return [inVersion2(own, read), inVersion1(own)].flatMap(found => found ?? [])
  } catch {
    return []
  }
}

function inVersion2({ v2 }: OwnGroups, read: (path: string) => string): GroupFolders | null {
  if (v2 === null) return null
  const parent = basename(v2) === OWN_LEAF ? dirname(v2) : v2
  try {
    const there = read(join(parent, 'cgroup.controllers')).trim().split(' ')
    const wanted = CONTROLLERS.filter(name => there.includes(name))
    if (wanted.length === 0) return null
    const enable = () =>
      writeFileSync(join(parent, 'cgroup.subtree_control'), wanted.map(name => `+${name}`).join(' '))
    try {
      enable()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error
      moveIntoLeaf(parent, read)
      enable()
    }
    return { version: 2, ...Object.fromEntries(wanted.map(name => [name, parent])) }
  } catch {
    return null
  }
}

function moveIntoLeaf(parent: string, read: (path: string) => string): void {
  const leaf = join(parent, OWN_LEAF)
  mkdirSync(leaf, { recursive: true })
  for (const pid of read(join(parent, 'cgroup.procs')).split('\n'))
    if (pid !== '') writeFileSync(join(leaf, 'cgroup.procs'), pid)
}

function inVersion1({ v1 }: OwnGroups): GroupFolders | null {
  const names = [...CONTROLLERS, 'cpuacct'].flatMap(name =>
    v1.has(name) ? [[name, v1.get(name)] as const] : [],
  )
  return names.length === 0 ? null : { version: 1, ...Object.fromEntries(names) }
}

/**
 * Returns those controllers of the first candidate with any for which a group could be created and limited.
 */
function usable(found: GroupFolders[]): GroupFolders | null {
  for (const { version, ...controllers } of found) {
    const working = Object.entries(controllers).filter(([name, folder]) => {
      try {
        void openGroup({ version, [name]: folder }, TRIAL).close()
        return true
      } catch {
        return false
      }
    })
    if (working.some(([name]) => name !== 'cpuacct')) return { version, ...Object.fromEntries(working) }
  }
  return null
}
