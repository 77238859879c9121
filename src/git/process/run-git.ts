import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { SystemUser } from '../../system/users.ts'
import { GitError, gitErrorFrom, publicText } from './git-error.ts'
import type { GitHost } from './git-host.ts'
import { limitError, limitedCommand, type ProcessLimits } from './process-limits.ts'

export type GitCall = {
  /** Two other programs that run in the same environment. Default: git, with the limits of its processes. */
  program?: 'flock' | 'sh'
  args: string[]
  /** The bare repository to work in. */
  git_dir?: string
  /** Transports that git may use, separated by colons; none when absent. */
  protocols?: string
  /** Added to the environment, which is otherwise empty. Values are removed from error messages. */
  env?: Record<string, string>
  /** Configuration for this call only, in its environment. */
  config?: Record<string, string>
  /** Also removed from error messages. */
  hidden?: string[]
  /** Standard input: text, bytes, or an open file descriptor. Empty when absent. */
  stdin?: string | Uint8Array | number
  /** Maximum bytes of standard output that are kept. Default 64 MiB. */
  max_output_bytes?: number
  /** What happens above the limit: fail with `too_large` (default), or stop git and return the beginning. */
  on_overflow?: 'fail' | 'cut'
  /** Default 60,000. */
  timeout_ms?: number
  signal?: AbortSignal
}

/** `exit_code` is null when git was stopped because of `on_overflow: 'cut'`. `stderr` may be shown; its last 16 kB. */
export type GitResult = { exit_code: number | null; stdout: Buffer; stderr: string; truncated: boolean }

/** The user and environment of a process; `ownIdentity` is that of every process of the service itself. */
export type GitIdentity = { user: SystemUser | null; gid: number | null; config_file: string; home: string; cwd: string }

export type StartedGit = { child: ChildProcess; done: Promise<GitResult> }

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
  return { user: host.user, gid: host.gid, config_file: join(host.home, 'config'), home: host.home, cwd: host.home }
}

/**
 * Runs one git process and returns its result for any exit code. Rejects with GitError `timeout`, `too_large` (its output, or a process
 * limit) or `failed` (git cannot be started), or with the reason of the caller's abort.
 */
export function runGit(host: GitHost, call: GitCall): Promise<GitResult> {
  return startGit(host, ownIdentity(host), call).done
}

/** Like `runGit`, but an exit code other than 0 is a GitError that starts with `what`. */
export async function git(host: GitHost, what: string, call: GitCall): Promise<Buffer> {
  const result = await runGit(host, call)
  if (result.exit_code !== 0 && !result.truncated) throw gitErrorFrom(result.stderr, what)
  return result.stdout
}

/**
 * Replaces standard pipes: `input` and `output` are one end of a connection, or a pipe that the caller writes and closes, or reads to its
 * end: then its output is not kept. `fd3` is a further descriptor.
 */
export type GitStdio = { input?: Socket | 'pipe'; output?: Socket | 'pipe'; fd3?: 'pipe' }

/** Starts the process before it returns, so that the ends of two processes can be joined in the same turn of the event loop. */
export function startGit(host: GitHost, identity: GitIdentity, call: GitCall, stdio: GitStdio = {}): StartedGit {
  const stdin = typeof call.stdin === 'number' ? call.stdin : call.stdin === undefined ? 'ignore' : 'pipe'
  const limits = { memory_bytes: host.memory_bytes, cpu_seconds: (Math.ceil(timeoutOf(call) / 1_000) + 1) * THREADS }
  const { program, args } = call.program === undefined ? limitedCommand(call.args, limits) : { program: call.program, args: call.args }
  const child = spawn(program, args, {
    cwd: identity.cwd,
    env: environment(host, identity, call),
    stdio: [stdio.input ?? stdin, stdio.output ?? 'pipe', 'pipe', ...(stdio.fd3 ? [stdio.fd3] : [])],
    detached: true,
    ...(identity.user ? { uid: identity.user.uid, gid: identity.gid ?? identity.user.gid } : {}),
  })
  const done = finish(host, child, call, { limits, read_by_others: stdio.output === 'pipe' })
  host.track(done)
  return { child, done }
}

/** As many as git's packing uses (`pack.threads`). */
const THREADS = 2

const timeoutOf = (call: GitCall): number => call.timeout_ms ?? 60_000

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
      config.flatMap(([key, value], i) => [[`GIT_CONFIG_KEY_${i}`, key] as const, [`GIT_CONFIG_VALUE_${i}`, value] as const]),
    ),
    ...call.env,
  }
}

type Finishing = { limits: ProcessLimits; read_by_others: boolean }

async function finish(host: GitHost, child: ChildProcess, call: GitCall, { limits, read_by_others }: Finishing): Promise<GitResult> {
  const { promise, resolve, reject } = Promise.withResolvers<GitResult>()
  const limit = call.max_output_bytes ?? 64 * 1024 ** 2
  const chunks: Buffer[] = []
  let kept = 0
  let truncated = false
  let stderr = ''
  let failure: unknown = null
  const stop = (reason: unknown) => {
    failure ??= reason
    endGroup(child)
  }

  const output = read_by_others ? null : child.stdout
  output?.on('data', (chunk: Buffer) => {
    if (truncated) return
    chunks.push(chunk.subarray(0, limit - kept))
    kept += chunk.length
    if (kept <= limit) return
    truncated = true
    if (call.on_overflow === 'cut') endGroup(child)
    else stop(new GitError('too_large', `the answer of git is larger than ${limit} bytes`))
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-16_384)
  })
  child.stdin?.on('error', () => {})
  if (child.stdin && (typeof call.stdin === 'string' || call.stdin instanceof Uint8Array)) child.stdin.end(call.stdin)

  const timeout_ms = timeoutOf(call)
  const timer = setTimeout(() => stop(new GitError('timeout', `git took longer than ${timeout_ms} ms`)), timeout_ms)
  const aborted = () => stop(call.signal?.reason)
  const closed = () => stop(host.closing.reason)
  call.signal?.addEventListener('abort', aborted)
  host.closing.addEventListener('abort', closed)
  if (call.signal?.aborted) aborted()
  if (host.closing.aborted) closed()

  child.once('exit', () => letGo(child, output))
  child.once('error', error => reject(new GitError('failed', `git cannot be started: ${error.message}`, { cause: error })))
  child.once('close', (code, signal) => {
    if (failure) return reject(failure)
    const limited = truncated || call.program !== undefined ? null : limitError(stderr, { code, signal }, limits)
    if (limited) return reject(limited)
    resolve({ exit_code: truncated ? null : code, stdout: Buffer.concat(chunks), stderr: shown(host, stderr, call), truncated })
  })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    call.signal?.removeEventListener('abort', aborted)
    host.closing.removeEventListener('abort', closed)
  }
}

/** A process that git left running, such as a persistent ssh connection, may hold the pipes open forever: its output is not waited for. */
function letGo(child: ChildProcess, output: Readable | null): void {
  const timer = setTimeout(() => {
    output?.destroy()
    child.stderr?.destroy()
  }, 1_000)
  child.once('close', () => clearTimeout(timer))
}

/**
 * Ends git and all that it started: first with SIGTERM, so that git removes its lock files; processes that outlive git are killed when git
 * has ended.
 */
function endGroup(child: ChildProcess): void {
  const { pid } = child
  if (pid === undefined) return
  signalGroup(pid, 'SIGTERM')
  const hard = setTimeout(() => signalGroup(pid, 'SIGKILL'), 1_500)
  child.once('close', () => {
    clearTimeout(hard)
    signalGroup(pid, 'SIGKILL')
  })
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The process group has ended meanwhile.
  }
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
