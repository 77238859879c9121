import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { asUser, changeFiles, type FileChange } from './change-files.ts'
import { folderState } from './folder-state.ts'
import { notRun, type Program, type ProgramEnd, type ProgramStdio, tryProgram } from './start-program.ts'

/**
 * What the service sends to this process: a program to run, a program to talk with, two programs that talk
 * with each other, input for a program, that the next part of its output may come, that it must stop, a
 * change to files, or a folder whose state it requests.
 */
export type HelperRequest =
  | { id: number; run: Program }
  | { id: number; open: Program }
  | { id: number; join: Program; peer: { id: number; program: Program } }
  | { id: number; input: string; last: boolean }
  | { id: number; more: true }
  | { id: number; stop: true }
  | { id: number; change: FileChange; user: User }
  | { id: number; state_of: string; user: User | null }
type User = { uid: number; gid: number }
/**
 * What this process sends about each program: that it runs, in a process group of this id, a part of its
 * output, and how it ended.
 */
export type HelperReport =
  | { id: number; pid: number }
  | { id: number; output: Buffer }
  | { id: number; end: ProgramEnd }

const running = new Map<number, ReturnType<typeof tryProgram>>()

process.on('message', (request: HelperRequest) => {
  if ('stop' in request) return running.get(request.id)?.stop()
  if ('more' in request) return void running.get(request.id)?.child?.stdout?.resume()
  if ('input' in request) return write(request)
  if ('change' in request)
    return report({ id: request.id, end: endAfter(request.user, () => void changeFiles(request.change)) })
  if ('state_of' in request)
    return report({ id: request.id, end: endAfter(request.user, () => folderState(request.state_of)) })
  if ('join' in request) return runJoined(request)
  if ('run' in request) return void run(request.id, request.run)
  passOutput(request.id, run(request.id, request.open, { input: 'pipe', output: 'pipe' }).child)
})

/** One part after each request for more; after the end of the program all that is left in its pipe. */
function passOutput(id: number, child: ChildProcess | null): void {
  const stdout = child?.stdout
  stdout?.pause().on('data', output => {
    if (child?.exitCode === null && child.signalCode === null) stdout.pause()
    report({ id, output })
  })
}

function run(id: number, program: Program, stdio: ProgramStdio = {}) {
  const started = tryProgram(program, stdio)
  running.set(id, started)
  if (started.child?.pid !== undefined) report({ id, pid: started.child.pid })
  void started.done.then(end => {
    running.delete(id)
    report({ id, end })
  })
  return started
}

/** Descriptor 3 of the first is the standard input and output of the second. */
function runJoined({ id, join, peer }: Extract<HelperRequest, { peer: unknown }>): void {
  const wire = run(id, join, { fd3: 'pipe' }).child?.stdio[3]
  if (wire instanceof Socket) {
    run(peer.id, peer.program, { input: wire, output: wire })
    wire.destroy()
  } else report({ id: peer.id, end: notRun })
}

function write({ id, input, last }: { id: number; input: string; last: boolean }): void {
  const stdin = running.get(id)?.child?.stdin
  if (input !== '') stdin?.write(input)
  if (last) stdin?.end()
}

/** Does what needs no program, as `user`; null: as this process. What `work` returns is the output. */
function endAfter(user: User | null, work: () => string | undefined): ProgramEnd {
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
// The service has ended: nobody enforces the timeouts of its programs.
process.on('disconnect', async () => {
  for (const program of running.values()) program.stop()
  await Promise.all([...running.values()].map(program => program.done))
  process.exit(0)
})
