import { asUser, changeFiles, type FileChange } from './change-files.ts'
import { folderState } from './folder-state.ts'
import { notRun, type Program, type ProgramEnd, type RunningProgram, tryProgram } from './start-program.ts'

/** What the service sends to this process: a program to run, the number of one to stop, a change to files, or a folder whose state it wants. */
export type HelperRequest =
  | { id: number; run: Program }
  | { id: number; stop: true }
  | { id: number; change: FileChange; user: User }
  | { id: number; state_of: string; user: User | null }
type User = { uid: number; gid: number }
/** What this process sends about each program: that it runs, in a process group of this id, and how it ended. */
export type HelperReport = { id: number; pid: number } | { id: number; end: ProgramEnd }

const running = new Map<number, RunningProgram>()

process.on('message', (request: HelperRequest) => {
  if ('stop' in request) return running.get(request.id)?.stop()
  if ('change' in request) return report({ id: request.id, end: endOf(request.user, () => void changeFiles(request.change)) })
  if ('state_of' in request) return report({ id: request.id, end: endOf(request.user, () => folderState(request.state_of)) })
  const { id } = request
  const program = tryProgram(request.run)
  running.set(id, program)
  if (program.pid !== undefined) report({ id, pid: program.pid })
  void program.done.then(end => {
    running.delete(id)
    report({ id, end })
  })
})

/** Does what needs no program, as `user`; null: as this process. What `work` returns is the output. */
function endOf(user: User | null, work: () => string | undefined): ProgramEnd {
  try {
    const output = user === null ? work() : asUser(user, work)
    return { ...notRun, code: 0, stdout: Buffer.from(output ?? '') }
  } catch (error) {
    return { ...notRun, stderr: error instanceof Error ? error.message : String(error) }
  }
}

/** When the channel has closed, nobody waits. */
function report(what: HelperReport): void {
  process.send?.(what, () => {})
}

// Signals to the service's process group are for the service, which still needs programs while it stops.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
// The service has ended: nobody enforces the timeouts of its programs any more.
process.on('disconnect', async () => {
  for (const program of running.values()) program.stop()
  await Promise.all([...running.values()].map(program => program.done))
  process.exit(0)
})
