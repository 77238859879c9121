import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { onAbort } from '../../core/abort.ts'
import { isKilled } from '../../core/concurrency/killed.ts'
import { type OpenProgram, openProgram, runJoined, runProgram } from '../../system/programs/run-program.ts'
import {
  type Program,
  type ProgramStdio,
  type RunningProgram,
  startProgram,
} from '../../system/programs/start-program.ts'
import type { SystemUser } from '../../system/users.ts'
import { GitError, gitErrorFrom, publicText } from './git-error.ts'
import type { GitHost } from './git-host.ts'
import { limitError, limitedCommand, type ProcessLimits } from './process-limits.ts'

export type GitCall = {
  /** Two other programs that run in the same environment. Default: git, with the limits of its processes. */
  program?: 'cat' | 'sh'
  args: string[]
  /** The bare repository to work in. */
  git_dir?: string
  /**
   * A file that the process locks until it ends. Exit code LOCK_TAKEN: another one has held it for that
   * long, and the program did not start.
   */
  lock?: { path: string; wait_seconds: number }
  /** Transports that git may use, separated by colons; none when absent. */
  protocols?: string
  /** Added to the environment, which is otherwise empty. Values are removed from error messages. */
  env?: Record<string, string>
  /** Configuration for this call only, in its environment. */
  config?: Record<string, string>
  /** Also removed from error messages. */
  hidden?: string[]
  /** Standard input. Empty when absent. */
  stdin?: Program['stdin']
  /** Maximum bytes of standard output that are kept. Default 64 MiB. */
  max_output_bytes?: number
  /** What happens above the limit: fail with `too_large` (default), or stop git and return the beginning. */
  on_overflow?: 'fail' | 'cut'
  /** Default 60,000. */
  timeout_ms?: number
  /** The processor time of each of its processes. Default: what its threads can use until the timeout. */
  cpu_seconds?: number
  signal?: AbortSignal
}

/**
 * `exit_code` is null when git was stopped because of `on_overflow: 'cut'`. `stderr` may be shown; its last
 * 16 kB.
 */
export type GitResult = { exit_code: number | null; stdout: Buffer; stderr: string; truncated: boolean }

/** The user and environment of a process; `ownIdentity` is that of every process of the service itself. */
export type GitIdentity = {
  user: SystemUser | null
  gid: number | null
  config_file: string
  home: string
  cwd: string
}

type StartedGit = { child: ChildProcess; done: Promise<GitResult> }

const ENV = {
  LANG: 'C',
  LC_ALL: 'C',
  TZ: 'UTC',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: '',
  GIT_EDITOR: 'false',
  GIT_PAGER: 'cat',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_ADVICE: '0',
  GIT_PROTOCOL: 'version=2',
  GIT_SSH_VARIANT: 'ssh',
}

export function ownIdentity(host: GitHost): GitIdentity {
  return {
    user: host.user,
    gid: host.gid,
    config_file: join(host.home, 'config'),
    home: host.home,
    cwd: host.home,
  }
}

/**
 * Runs one git process and returns its result for any exit code. Rejects with GitError `timeout`, `too_large`
 * (its output, or a process limit) or `failed` (git cannot be started), or with the reason of the caller's
 * abort.
 */
export function runGit(
  host: GitHost,
  call: GitCall,
  identity: GitIdentity = ownIdentity(host),
): Promise<GitResult> {
  const limits = limitsOf(host, call)
  return finish(host, runProgram(programOf(host, identity, call, limits)), call, limits)
}

/**
 * Runs git like `runGit` and returns its output, but an exit code other than 0 is a GitError that starts with
 * `what`.
 */
export async function git(host: GitHost, what: string, call: GitCall): Promise<Buffer> {
  const result = await runGit(host, call)
  if (result.exit_code !== 0 && !result.truncated) throw gitErrorFrom(result.stderr, what)
  return result.stdout
}

/** Starts git like `runGit`; the caller writes its input and reads its output. */
export function openGit(
  host: GitHost,
  call: GitCall,
): Pick<OpenProgram, 'output' | 'write'> & { done: Promise<GitResult> } {
  const limits = limitsOf(host, call)
  const { output, write, ...running } = openProgram(programOf(host, ownIdentity(host), call, limits))
  const done = finish(host, running, call, limits)
  // It may reject while the caller still writes; awaiting it then still throws the error.
  done.catch(() => {})
  return { output, write, done }
}

/**
 * Runs two processes like `runGit`: descriptor 3 of the first is the standard input and output of the second.
 */
export function runJoinedGit(
  host: GitHost,
  call: GitCall,
  peer: { identity: GitIdentity; call: GitCall },
): [Promise<GitResult>, Promise<GitResult>] {
  const [own_limits, peer_limits] = [limitsOf(host, call), limitsOf(host, peer.call)]
  const own = programOf(host, ownIdentity(host), call, own_limits)
  const [first, second] = runJoined(own, programOf(host, peer.identity, peer.call, peer_limits))
  return [finish(host, first, call, own_limits), finish(host, second, peer.call, peer_limits)]
}

/** Starts a process of this process, whose output another connection reads. */
export function startGit(
  host: GitHost,
  identity: GitIdentity,
  call: GitCall,
  stdio: ProgramStdio = {},
): StartedGit {
  const limits = limitsOf(host, call)
  const started = startProgram(programOf(host, identity, call, limits), stdio)
  return { child: started.child, done: finish(host, started, call, limits) }
}

/** What flock ends with when somebody else has the lock; git has no such code. */
export const LOCK_TAKEN = 75

function commandOf({ program, args, lock }: GitCall, limits: ProcessLimits) {
  const command = program === undefined ? limitedCommand(args, limits) : { program, args }
  if (lock === undefined) return command
  const options = ['--no-fork', '-w', String(lock.wait_seconds), '-E', String(LOCK_TAKEN), lock.path]
  return { program: 'flock', args: [...options, command.program, ...command.args] }
}

function programOf(host: GitHost, identity: GitIdentity, call: GitCall, limits: ProcessLimits): Program {
  return {
    ...commandOf(call, limits),
    cwd: identity.cwd,
    env: environment(host, identity, call),
    user: identity.user && { uid: identity.user.uid, gid: identity.gid ?? identity.user.gid },
    ...(call.stdin !== undefined && { stdin: call.stdin }),
    max_output_bytes: maxOutputOf(call),
    timeout_ms: timeoutOf(call),
  }
}

/** As many as git's packing uses (`pack.threads`). */
const THREADS = 2

const timeoutOf = (call: GitCall): number => call.timeout_ms ?? 60_000
const maxOutputOf = (call: GitCall): number => call.max_output_bytes ?? 64 * 1024 ** 2
const limitsOf = (host: GitHost, call: GitCall): ProcessLimits => ({
  memory_bytes: host.memory_bytes,
  cpu_seconds: call.cpu_seconds ?? (Math.ceil(timeoutOf(call) / 1_000) + 1) * THREADS,
})

function environment(host: GitHost, identity: GitIdentity, call: GitCall): Record<string, string> {
  const config = Object.entries(call.config ?? {})
  return {
    ...ENV,
    PATH: host.path,
    HOME: identity.home,
    GIT_CONFIG_GLOBAL: identity.config_file,
    GIT_CEILING_DIRECTORIES: identity.cwd,
    GIT_ALLOW_PROTOCOL: call.protocols ?? 'none',
    ...(call.git_dir ? { GIT_DIR: call.git_dir } : {}),
    GIT_CONFIG_COUNT: String(config.length),
    ...Object.fromEntries(
      config.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key] as const,
        [`GIT_CONFIG_VALUE_${i}`, value] as const,
      ]),
    ),
    ...call.env,
  }
}

async function finish(
  host: GitHost,
  command: RunningProgram,
  call: GitCall,
  limits: ProcessLimits,
): Promise<GitResult> {
  let aborted: { reason: unknown } | null = null
  const stopOn = (signal: AbortSignal) =>
    onAbort(signal, () => {
      aborted ??= { reason: signal.reason }
      command.stop()
    })
  using _caller = call.signal && stopOn(call.signal)
  using _host = stopOn(host.closing)
  host.track(command.done)
  const { stdout, stderr, stopped, start_error, ...exit } = await command.done
  if (aborted) throw (aborted as { reason: unknown }).reason
  if (start_error !== null) throw new GitError('failed', `git cannot be started: ${start_error}`)
  if (stopped === 'lost') throw new GitError('killed', 'git was killed with the process that ran it')
  if (stopped === 'timeout') throw new GitError('timeout', `git took longer than ${timeoutOf(call)} ms`)
  const truncated = stopped === 'output'
  if (truncated && call.on_overflow !== 'cut')
    throw new GitError('too_large', `the output of git is larger than ${maxOutputOf(call)} bytes`)
  const limited = truncated || call.program !== undefined ? null : limitError(stderr, exit, limits)
  if (limited) throw limited
  if (!truncated && isKilled(exit, stderr)) throw new GitError('killed', 'git was killed')
  return { exit_code: truncated ? null : exit.code, stdout, stderr: shown(host, stderr, call), truncated }
}

function shown(host: GitHost, stderr: string, call: GitCall): string {
  return publicText(
    stderr,
    [...Object.values(call.env ?? {}), ...(call.hidden ?? [])],
    [
      [`${host.mirrors}/`, ''],
      [`${host.checkpoints}/`, ''],
      [`${host.home}/`, ''],
    ],
  )
}
