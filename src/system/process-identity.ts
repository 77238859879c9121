import { readFileSync, readlinkSync } from 'node:fs'
import { isAlive, signalProcess, waitUntil } from './processes.ts'

const END_MS = 3_000

/**
 * Returns a name of a process by which another process of the service can end it later: boot, pid namespace,
 * pid and start time. A pid that is used again, a machine that was started again and another container have
 * other names. Null when the process is gone.
 */
export function processIdentity(pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const namespace = readlinkSync('/proc/self/ns/pid')
    const started = processStart(pid)
    return started === null ? null : `${boot} ${namespace} ${pid} ${started}`
  } catch {
    return null
  }
}

/** Returns when the process was started, in clock ticks since the machine was; null when it is gone. */
export function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold anything; field 22 is counted from behind it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

/**
 * Kills the process of that name and waits until it is gone. Nothing happens when there is none. Rejects when
 * it does not go.
 */
export async function endProcess(identity: string): Promise<void> {
  const pid = Number(identity.split(' ')[2])
  const there = () => processIdentity(pid) === identity && isAlive(pid)
  if (!there()) return
  signalProcess(pid, 'SIGKILL')
  if (!(await waitUntil(() => !there(), END_MS))) throw new Error(`process ${pid} does not end`)
}
