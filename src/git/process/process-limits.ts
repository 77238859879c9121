import { GitError } from './git-error.ts'

/**
 * The limits of one git process. `memory_bytes`: private data; mapped packs do not count. `cpu_seconds`: of
 * all threads together, so that it ends even when the service that started it was killed.
 */
export type ProcessLimits = { memory_bytes: number; cpu_seconds: number }

/** When the machine runs out of memory, the kernel kills git before the service and its database. */
const OOM_SCORE = 500
/** Between the CPU signal that git reports and the one that kills it. */
const CPU_GRACE_SECONDS = 5

/**
 * A limit that cannot be set, because the machine has a lower one, is unchanged. `exec`: no extra process
 * remains.
 */
const SCRIPT = [
  `read -r score </proc/self/oom_score_adj && [ "$score" -lt ${OOM_SCORE} ] && echo ${OOM_SCORE} >/proc/self/oom_score_adj`,
  'ulimit -d "$1"; ulimit -S -t "$2"; ulimit -H -t "$3"',
].join('\n')

/** Returns the command that runs git under its limits; its child processes have the same limits, each. */
export function limitedCommand(args: string[], limits: ProcessLimits): { program: string; args: string[] } {
  const kibibytes = Math.ceil(limits.memory_bytes / 1024)
  const numbers = [kibibytes, limits.cpu_seconds, limits.cpu_seconds + CPU_GRACE_SECONDS].map(String)
  return {
    program: '/bin/sh',
    args: ['-c', `{\n${SCRIPT}\n} 2>/dev/null\nshift 3\nexec git "$@"`, 'git', ...numbers, ...args],
  }
}

const NO_MEMORY =
  /^(fatal|error): .*(out of memory|cannot allocate memory|(unable to|cannot) create thread|attempting to allocate \d+ over limit)/im

/** Returns why git ended when a limit caused it, or when git cannot be started; null otherwise. */
export function limitError(
  stderr: string,
  exit: { code: number | null; signal: string | null },
  limits: ProcessLimits,
): GitError | null {
  if (exit.code === 0) return null
  if (exit.code === 127 && /exec: git: not found/.test(stderr))
    return new GitError('failed', 'git cannot be started: it is not installed')
  if (exit.signal === 'SIGXCPU' || /died of signal 24\b/.test(stderr))
    return new GitError('too_large', `git took more than ${limits.cpu_seconds} s of processor time`)
  if (!NO_MEMORY.test(stderr)) return null
  const mebibytes = Math.floor(limits.memory_bytes / 1024 ** 2)
  return new GitError(
    'too_large',
    `git needs more memory than the ${mebibytes} MiB that it may use (AGENTRUN_GIT_MEMORY_BYTES)`,
  )
}
