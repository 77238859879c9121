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
  const stats = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(name => ({ pid: Number(name), stat: statOf(Number(name)) }))
  const sum = (of: number): number => {
    const times = statOf(of)?.slice(11, 15) ?? []
    const children = stats.filter(({ stat }) => stat?.[1] === of)
    return times.reduce((total, time) => total + time * 10, 0) + children.reduce((total, child) => total + sum(child.pid), 0)
  }
  return sum(pid)
}

/** MiB of memory that a process has at this moment. */
export function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
