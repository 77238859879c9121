import { readdirSync, readFileSync } from 'node:fs'

/**
 * Returns all descendants of a process of this machine: a daemon in a sandbox is a child of its process 1.
 */
export function descendantsOf(pid: number): number[] {
  const found: number[] = []
  for (let next = childrenOf(pid); next.length > 0; next = next.flatMap(childrenOf)) found.push(...next)
  return found
}

/** Returns the process ids of the children of all threads of a process; none when it is gone. */
export function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap(thread => {
    try {
      return readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
        .trim()
        .split(' ')
        .filter(Boolean)
        .map(Number)
    } catch {
      return []
    }
  })
}

/** Returns an empty list when it is gone. */
export function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}
