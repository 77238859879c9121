import { Worker } from 'node:worker_threads'
import { onAbort } from '../core/abort.ts'
import { createSemaphore } from '../core/concurrency/semaphore.ts'
import { createTurns } from '../core/concurrency/turns.ts'

const MAX_MEMORY_MIB = 256

/** What a thread reports, or why it reports nothing; `error` is for the log. */
export type ThreadEnd<Result> =
  | { ok: true; value: Result }
  | { ok: false; why: 'timeout' | 'memory' | 'error'; error: string }

/**
 * Returns a function that runs `thread` with its `workerData`: texts of strangers must not hold up other
 * runs. Rejects with the reason of `signal`. Threads are a resource of the machine, like its memory: at most
 * `max_threads` run, one for each `owner`, so that who sends many slow texts waits for itself.
 */
export function createThreads<Input, Result>(
  thread: URL,
  { max_threads, timeout_ms }: { max_threads: number; timeout_ms: number },
) {
  const inTurn = createTurns()
  const semaphore = createSemaphore(max_threads)
  return (input: Input, owner: number, signal?: AbortSignal): Promise<ThreadEnd<Result>> =>
    inTurn(
      owner,
      async () => {
        const leave = await semaphore.enter(signal)
        if (leave === null) throw signal?.reason
        try {
          return await runThread<Result>(thread, { input, timeout_ms, signal })
        } finally {
          leave()
        }
      },
      signal,
    )
}

type ThreadRun = { input: unknown; timeout_ms: number; signal: AbortSignal | undefined }

async function runThread<Result>(
  thread: URL,
  { input, timeout_ms, signal }: ThreadRun,
): Promise<ThreadEnd<Result>> {
  const worker = new Worker(thread, {
    workerData: input,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MIB },
  })
  const { promise, resolve, reject } = Promise.withResolvers<ThreadEnd<Result>>()
  const fail = (why: 'timeout' | 'memory' | 'error', error: string) => resolve({ ok: false, why, error })
  const timer = setTimeout(() => fail('timeout', `no result after ${timeout_ms} ms`), timeout_ms)
  worker.once('message', (value: Result) => resolve({ ok: true, value }))
  worker.once('error', (error: NodeJS.ErrnoException) =>
    fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'error', error.stack ?? error.message),
  )
  worker.once('exit', code => fail('error', `the thread ended with code ${code} and no result`))
  using _listener = signal && onAbort(signal, () => reject(signal.reason))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}
