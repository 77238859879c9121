import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { no_usage, type ResourceUsage } from '../resources/bounds.ts'
import { boundSockets, readUsage } from '../resources/cgroup.ts'
import { ownGroups } from '../resources/cgroup-paths.ts'

/**
 * Reads the usage of the control group of process `pid` while it exists; unknown where its groups are not
 * visible. Limits that engines do not set are set first, where permitted.
 */
export function watchUsage(pid: number): () => ResourceUsage {
  const groups = groupsOf(pid)
  let last = no_usage
  if (groups === null) return () => last
  const { v2, v1 } = groups
  const memory = v1.get('memory')
  if (memory !== undefined) boundSockets(memory)
  const at = (controller: string, file: string) => join(v1.get(controller) ?? v2 ?? '/nowhere', file)
  return () => {
    const now = readUsage(v1.has('memory') ? 1 : 2, at, last)
    // Its group disappears with it.
    if (now.memory_bytes > 0) last = now
    return last
  }
}

function groupsOf(pid: number) {
  try {
    return ownGroups(
      readFileSync(`/proc/${pid}/cgroup`, 'utf8'),
      readFileSync('/proc/self/mountinfo', 'utf8'),
    )
  } catch {
    return null
  }
}
