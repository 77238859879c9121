import { type ChildProcess, fork } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { childEnv } from '../host-child-env.ts'
import { changeFiles, type FileChange } from './change-files.ts'
import type { HelperReport, HelperRequest } from './program-helper.ts'
import { notRun, type Program, type ProgramEnd, type RunningProgram, signalGroup, tryProgram } from './start-program.ts'

/** `requests` are the programs that have not ended. */
type Helper = { process: ChildProcess; requests: Map<number, Waiting> }
type Waiting = { resolve: (end: ProgramEnd) => void; pid: number | null }

const helper_file = fileURLToPath(new URL('./program-helper.ts', import.meta.url))
let helper: Helper | undefined
let last_id = 0

/**
 * Runs a program by a small helper process, one for this process (decisions.md#programs-run-by-a-helper): a fork copies the page tables of
 * its caller. A helper that has ended is replaced by the next call; its programs are killed and end as `lost`.
 */
export function runProgram(program: Program): RunningProgram {
  // A descriptor is not valid in another process.
  if (typeof program.stdin === 'number') return tryProgram(program)
  const { id, to, done } = request({ run: program })
  return { done, stop: () => void (to.requests.has(id) && to.process.send({ id, stop: true } satisfies HelperRequest, () => {})) }
}

/** Changes files as `user` (null: as this process), whose permissions decide. Rejects with the file system's error. */
export async function changeFilesAs(user: { uid: number; gid: number } | null, change: FileChange): Promise<void> {
  if (user === null) return changeFiles(change)
  const { code, stderr, stopped } = await request({ change, user }).done
  if (code !== 0) throw new Error(stderr || `the change is ${stopped}`)
}

/**
 * Returns a digest of all metadata of a folder, read as `user` (null: as this process), that differs after a change: `folderState`. Null: it has
 * more than 1,000 entries, or cannot be read.
 */
export async function folderStateAs(user: { uid: number; gid: number } | null, folder: string): Promise<string | null> {
  const { code, stdout } = await request({ state_of: folder, user }).done
  return code === 0 ? stdout.toString() : null
}

/** Removes what is small, as `user`. Returns the paths that are still there: they are large, or cannot be removed. */
export async function refusedRemovals(user: { uid: number; gid: number } | null, paths: readonly string[]): Promise<string[]> {
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

type Request = HelperRequest extends infer R ? (R extends { stop: true } ? never : Omit<R, 'id'>) : never

function request(what: Request) {
  helper ??= startHelper()
  const to = helper
  const id = ++last_id
  const { promise: done, resolve } = Promise.withResolvers<ProgramEnd>()
  to.requests.set(id, { resolve, pid: null })
  to.process.channel?.ref()
  send(to, { id, ...what } as HelperRequest)
  return { id, to, done }
}

function startHelper(): Helper {
  // From its compiled files it takes 20 MiB less than from TypeScript. The folder that Node names is the one of its version.
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
    if (waiting && 'pid' in report) waiting.pid = report.pid
    if (!waiting || 'pid' in report) return
    started.requests.delete(report.id)
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
  for (const { resolve, pid } of given_up.requests.values()) {
    if (pid !== null) signalGroup(pid, 'SIGKILL')
    resolve({ ...notRun, stopped: 'lost' })
  }
  given_up.requests.clear()
}
