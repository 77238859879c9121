import { Worker } from 'node:worker_threads'

export const PING_MS = 1_000

/** `pipe`: a descriptor of the thread alone, so that its number cannot become another file meanwhile. */
export type PingRequest = { kind: 'add' | 'close'; pipe: number }

const pipes = new Set<number>()
let thread: Worker | null = null

/**
 * Writes a "." into the pipe each second, on a thread: a process whose event loop is occupied is not frozen.
 * Takes over the descriptor, and closes it when the returned function is first called. The thread ends with
 * the last pipe; if it dies, another one continues.
 */
export function pingEachSecond(pipe: number): () => void {
  pipes.add(pipe)
  if (thread === null) thread = start()
  else send(thread, 'add', pipe)
  let closed = false
  return () => {
    // A second close would close the file that has the number then.
    if (closed) return
    closed = true
    const last = thread
    pipes.delete(pipe)
    if (pipes.size === 0) thread = null
    if (last !== null) send(last, 'close', pipe)
  }
}

const send = (to: Worker, kind: PingRequest['kind'], pipe: number) =>
  to.postMessage({ kind, pipe } satisfies PingRequest)

function start(): Worker {
  const started = new Worker(new URL('./ping-thread.ts', import.meta.url), {
    env: {},
    execArgv: [],
    trackUnmanagedFds: false,
  })
  started.unref()
  started.on('error', () => {})
  started.on('exit', () => {
    if (thread === started) thread = pipes.size > 0 ? start() : null
  })
  for (const pipe of pipes) send(started, 'add', pipe)
  return started
}
