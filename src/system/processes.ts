import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { pause } from '../core/pause.ts'

/**
 * Returns true while the process runs. A zombie is not alive, though `kill(pid, 0)` succeeds: in containers
 * init may reap late or never.
 */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/**
 * Returns the working directory and the executable of a process; null when it has ended, is a zombie, or is
 * not readable.
 */
export function processExecutable(pid: number): { cwd: string; exe: string } | null {
  try {
    return {
      cwd: readlinkSync(`/proc/${pid}/cwd`),
      exe: readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, ''),
    }
  } catch {
    return null
  }
}

/** Returns the user that a process runs as; null when it is gone. */
export function processUid(pid: number): number | null {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? null
}

/** Ids of all processes of the machine that we can see. */
export function processIds(): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
}

/** Sends a signal; a process that is already gone is fine. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * Polls until `done()`; false when that took longer than `timeout_ms`. For other processes only, which have
 * no event to wait for.
 */
export async function waitUntil(
  done: () => boolean | Promise<boolean>,
  timeout_ms: number,
  poll_ms = 10,
): Promise<boolean> {
  const deadline = performance.now() + timeout_ms
  while (!(await done())) {
    if (performance.now() > deadline) return false
    await pause(poll_ms)
  }
  return true
}
