import { readdirSync, readFileSync } from 'node:fs'

/** The fields of /proc/<pid>/stat behind the name of the process; null: it has ended. */
function statOf(pid: number): number[] | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number)
  } catch {
    return null
  }
}

/** User and system time of a process in milliseconds, to the hundredths of a second that Linux counts in. */
export function processorMs(pid: number): number {
  const [user = 0, system = 0] = statOf(pid)?.slice(11) ?? []
  return (user + system) * 10
}

/** The same with all that descends from the process, what has ended and was waited for included. */
export function familyMs(pid: number): number {
  return familyOf(pid).reduce(
    (total, of) => total + (statOf(of)?.slice(11, 15) ?? []).reduce((sum, time) => sum + time * 10, 0),
    0,
  )
}

/** The process and all that descend from it. */
export function familyOf(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(name => ({ pid: Number(name), parent: statOf(Number(name))?.[1] }))
  const family = (of: number): number[] => [
    of,
    ...parents.filter(({ parent }) => parent === of).flatMap(child => family(child.pid)),
  ]
  return family(pid)
}

/** MiB of memory that a process has at this moment. */
export function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

/** MiB of memory that a process has, of what it shares with others its share; 0: it has ended. */
export function proportionalMiB(pid: number): number {
  try {
    return (
      Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024
    )
  } catch {
    return 0
  }
}
