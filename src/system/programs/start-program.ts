import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { readExactly } from '../read-exactly.ts'

/** A program that runs to its end, in a process group of its own. `env` is its whole environment. */
export type Program = {
  program: string
  args: string[]
  cwd: string
  env: Record<string, string>
  /** Default: the user of this process. */
  user?: { uid: number; gid: number } | null
  /** Standard input: text, bytes, or what a file has behind its first bytes. Empty when absent. */
  stdin?: string | Uint8Array | FilePart
  /** Maximum bytes of standard output; a program that writes more is stopped. */
  max_output_bytes: number
  /** Absent: no limit. */
  timeout_ms?: number
}

type FilePart = { path: string; behind: number }

const MAX_STDERR_CHARS = 16_384

/**
 * How a program ended, after its last process. `stdout` is the first `max_output_bytes`, `stderr` the last
 * lines, 16 kB at most. `stopped`: why it was stopped before its own end; `lost`: the process that ran it has
 * ended, and the program was killed. `start_error`: it never ran.
 */
export type ProgramEnd = {
  code: number | null
  signal: string | null
  stdout: Buffer
  stderr: string
  stopped: 'timeout' | 'output' | 'request' | 'lost' | null
  start_error: string | null
}

/** `done` never rejects. `stop` ends the command with all processes that it started. */
export type RunningProgram = { done: Promise<ProgramEnd>; stop(): void }

/**
 * Replaces standard pipes: `input` and `output` are one end of a connection, or a pipe that the caller writes
 * and closes, or reads to its end: then its output is not kept. `fd3` is a further descriptor.
 */
export type ProgramStdio = { input?: Socket | 'pipe'; output?: Socket | 'pipe'; fd3?: 'pipe' }

/**
 * Starts the command before it returns, so that the ends of two commands can be joined in the same turn of
 * the event loop.
 */
export function startProgram(
  command: Program,
  stdio: ProgramStdio = {},
): RunningProgram & { child: ChildProcess } {
  const file = command.stdin === undefined || isContent(command.stdin) ? null : openPart(command.stdin)
  const stdin = file ?? (command.stdin === undefined ? 'ignore' : 'pipe')
  let child: ChildProcess
  try {
    child = spawn(command.program, command.args, {
      cwd: command.cwd,
      env: command.env,
      stdio: [stdio.input ?? stdin, stdio.output ?? 'pipe', 'pipe', ...(stdio.fd3 ? [stdio.fd3] : [])],
      detached: true,
      ...(command.user ? { uid: command.user.uid, gid: command.user.gid } : {}),
    })
  } finally {
    if (file !== null) closeSync(file)
  }
  return { child, ...watchProgram(child, command, stdio.output === 'pipe') }
}

/** Half a line may begin with the end of a secret, which nothing recognizes: it is dropped. */
function lastLines(text: string): string {
  if (text.length <= MAX_STDERR_CHARS) return text
  const kept = text.slice(-MAX_STDERR_CHARS)
  return kept.slice(kept.search(/[\r\n]|$/))
}

const isContent = (stdin: string | Uint8Array | FilePart): stdin is string | Uint8Array =>
  typeof stdin === 'string' || stdin instanceof Uint8Array

/** Returns a descriptor whose position is behind the first bytes. */
function openPart({ path, behind }: FilePart): number {
  const file = openSync(path, 'r')
  try {
    // Moves the position of the file.
    readExactly(file, behind)
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/**
 * Starts a program like `startProgram`, but an error that Node throws instead of reporting it, such as E2BIG,
 * is a `start_error` too.
 */
export function tryProgram(
  program: Program,
  stdio: ProgramStdio = {},
): RunningProgram & { child: ChildProcess | null } {
  try {
    return startProgram(program, stdio)
  } catch (error) {
    const start_error = error instanceof Error ? error.message : String(error)
    return { done: Promise.resolve({ ...notRun, start_error }), stop() {}, child: null }
  }
}

export const notRun: ProgramEnd = {
  code: null,
  signal: null,
  stdout: Buffer.alloc(0),
  stderr: '',
  stopped: null,
  start_error: null,
}

function watchProgram(child: ChildProcess, command: Program, read_by_others: boolean): RunningProgram {
  const { promise, resolve } = Promise.withResolvers<ProgramEnd>()
  const chunks: Buffer[] = []
  let kept = 0
  let stderr = ''
  let stopped: ProgramEnd['stopped'] = null
  const stop = (reason: ProgramEnd['stopped']) => {
    stopped ??= reason
    endGroup(child)
  }
  const output = read_by_others ? null : child.stdout
  output?.on('data', (chunk: Buffer) => {
    if (kept > command.max_output_bytes) return
    chunks.push(chunk.subarray(0, command.max_output_bytes - kept))
    kept += chunk.length
    if (kept > command.max_output_bytes) stop('output')
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = lastLines(stderr + text)
  })
  child.stdin?.on('error', () => {})
  if (child.stdin && command.stdin !== undefined && isContent(command.stdin)) child.stdin.end(command.stdin)

  const timer =
    command.timeout_ms === undefined ? undefined : setTimeout(() => stop('timeout'), command.timeout_ms)
  const end = (how: Pick<ProgramEnd, 'code' | 'signal' | 'start_error'>) => {
    clearTimeout(timer)
    resolve({ ...how, stdout: Buffer.concat(chunks), stderr, stopped })
  }
  child.once('exit', () => stopReading(child, output))
  child.once('error', error => end({ code: null, signal: null, start_error: error.message }))
  child.once('close', (code, signal) => end({ code, signal, start_error: null }))
  return { done: promise, stop: () => stop('request') }
}

/**
 * A process that a command left running, such as a persistent ssh connection, may hold the pipes open
 * forever: its output is not waited for.
 */
function stopReading(child: ChildProcess, output: Readable | null): void {
  const timer = setTimeout(() => {
    output?.destroy()
    child.stderr?.destroy()
  }, 1_000)
  child.once('close', () => clearTimeout(timer))
}

/**
 * Ends a command and all that it started: first with SIGTERM, so that git removes its lock files; processes
 * that outlive the command are killed when it has ended.
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

/** Sends a signal to a process group. One that has ended is ignored. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The process group has ended meanwhile.
  }
}
