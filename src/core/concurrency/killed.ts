/**
 * SIGHUP, SIGINT, SIGKILL and SIGTERM: a person or the kernel sends them from outside. A crash of the program
 * itself has others.
 */
const SIGNALS = [1, 2, 9, 15]
const NAMES = ['SIGHUP', 'SIGINT', 'SIGKILL', 'SIGTERM']
const CHILD_DIED = new RegExp(` died of signal (${SIGNALS.join('|')})$`, 'm')

/**
 * Whether a signal from outside ended a program, or a child of git. `exit`: its signal, or its exit code as
 * of a shell; `stderr`: of git.
 */
export function isKilled(exit: { code: number | null; signal?: string | null }, stderr = ''): boolean {
  if (NAMES.includes(exit.signal ?? '')) return true
  if (exit.code === 0) return false
  return SIGNALS.some(signal => exit.code === 128 + signal) || CHILD_DIED.test(stderr)
}
