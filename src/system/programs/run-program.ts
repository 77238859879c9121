import { type ChildProcess, fork } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { childEnv } from '../host-child-env.ts'
import { changeFiles, type FileChange } from './change-files.ts'
import type { HelperReport, HelperRequest } from './program-helper.ts'
import { notRun, type Program, type ProgramEnd, type RunningProgram, signalGroup } from './start-program.ts'

/** `requests` are the programs that have not ended. */
type Helper = { process: ChildProcess; requests: Map<number, PendingRequest> }
type PendingRequest = { resolve: (end: ProgramEnd) => void; pid: number | null; output: Readable | null }

const helper_file = fileURLToPath(new URL('./program-helper.ts', import.meta.url))
let helper: Helper | undefined
let last_id = 0

/**
 * Runs a program by a small helper process, one for this process (decisions.md#programs-run-by-a-helper): a
 * fork copies the page tables of its caller. A helper that has ended is replaced by the next call; its
 * programs are killed and end as `lost`.
 */
export function runProgram(program: Program): RunningProgram {
  const { done, stop } = request({ run: program })
  return { done, stop }
}

/** A program that the caller writes to and whose output the caller reads; it waits while nobody reads. */
export type OpenProgram = RunningProgram & { output: Readable; write(text: string, last: boolean): void }

/** Runs a program like `runProgram`. `max_output_bytes` and `stdin` do not count. */
export function openProgram(program: Program): OpenProgram {
  const output = new Readable({ read: () => forward({ more: true }) })
  const { done, stop, forward } = request({ open: program }, output)
  return { done, stop, output, write: (input, last) => forward({ input, last }) }
}

/**
 * Runs two programs like `runProgram`: descriptor 3 of the first is the standard input and output of the
 * second.
 */
export function runJoined(program: Program, peer: Program): [RunningProgram, RunningProgram] {
  const second = expectEnd(null)
  const first = request({ join: program, peer: { id: second.id, program: peer } })
  return [first, second]
}

/**
 * Changes files as `user` (null: as this process), whose permissions decide. Rejects with the file system's
 * error.
 */
export async function changeFilesAs(
  user: { uid: number; gid: number } | null,
  change: FileChange,
): Promise<void> {
  if (user === null) return changeFiles(change)
  const { code, stderr, stopped } = await request({ change, user }).done
  if (code !== 0) throw new Error(stderr || `the change is ${stopped}`)
}

/**
 * Returns a text of all metadata of a folder, read as `user` (null: as this process), that differs after a
 * change: `folderState`. Null: it has more than 1,000 entries, or cannot be read.
 */
export async function folderStateAs(
  user: { uid: number; gid: number } | null,
  folder: string,
): Promise<string | null> {
  const { code, stdout } = await request({ state_of: folder, user }).done
  return code === 0 ? stdout.toString() : null
}

/**
 * Removes what is small, as `user`. Returns the paths that are still there: they are large, or cannot be
 * removed.
 */
export async function refusedRemovals(
  user: { uid: number; gid: number } | null,
  paths: readonly string[],
): Promise<string[]> {
  const removed = await Promise.all(
    paths.map(path =>
      changeFilesAs(user, { kind: 'remove', path }).then(
        () => true,
        () => false,
      ),
    ),
  )
  return paths.filter((_, i) => !removed[i])
}

type BegunRequest = Extract<
  HelperRequest,
  { run: unknown } | { open: unknown } | { join: unknown } | { change: unknown } | { state_of: unknown }
>
type Begin = BegunRequest extends infer R ? (R extends BegunRequest ? Omit<R, 'id'> : never) : never
type Later = { stop: true } | { more: true } | { input: string; last: boolean }

function request(what: Begin, output: Readable | null = null) {
  const expected = expectEnd(output)
  send(expected.to, { id: expected.id, ...what } as HelperRequest)
  return expected
}

/** Of what is requested next, under this id. `forward`: ignored after the end. */
function expectEnd(output: Readable | null) {
  helper ??= startHelper()
  const to = helper
  const id = ++last_id
  const { promise: done, resolve } = Promise.withResolvers<ProgramEnd>()
  to.requests.set(id, { resolve, pid: null, output })
  to.process.channel?.ref()
  const forward = (what: Later) =>
    void (to.requests.has(id) && to.process.send({ id, ...what } satisfies HelperRequest, () => {}))
  return { id, to, done, forward, stop: () => forward({ stop: true }) }
}

function startHelper(): Helper {
  // From its compiled files it takes 20 MiB less than from TypeScript. The folder that Node names is the one
  // of its version.
  const compiled = getCompileCacheDir()
  const process = fork(helper_file, {
    env: childEnv(compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) }),
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const started: Helper = { process, requests: new Map() }
  // It does not keep this process alive, except while a program runs.
  process.unref()
  process.channel?.unref()
  process.on('message', (report: HelperReport) => {
    const waiting = started.requests.get(report.id)
    if (!waiting) return
    if ('pid' in report) waiting.pid = report.pid
    else if ('output' in report) waiting.output?.push(report.output)
    if (!('end' in report)) return
    started.requests.delete(report.id)
    waiting.output?.push(null)
    waiting.resolve(report.end)
    if (started.requests.size === 0) process.channel?.unref()
  })
  process.once('error', () => giveUp(started))
  process.once('exit', () => giveUp(started))
  return started
}

function send(to: Helper, message: HelperRequest): void {
  to.process.send(message, error => {
    if (error) giveUp(to)
  })
}

/** Ends the programs of a helper that has ended. One that it had not reported yet may run on. */
function giveUp(given_up: Helper): void {
  if (helper === given_up) helper = undefined
  for (const { resolve, pid, output } of given_up.requests.values()) {
    if (pid !== null) signalGroup(pid, 'SIGKILL')
    output?.push(null)
    resolve({ ...notRun, stopped: 'lost' })
  }
  given_up.requests.clear()
}
