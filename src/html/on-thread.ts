import { Worker } from 'node:worker_threads'
import { onAbort } from '../core/abort.ts'
import { createSemaphore } from '../core/concurrency/semaphore.ts'

const MAX_MEMORY_MIB = 256

/**
 * Returns a function that runs `thread` with its `workerData` and returns what it reports: texts of strangers
 * must not hold up other runs. Null: that failed or took longer than `timeout_ms`, so the text was written
 * for that. Rejects with the reason of `signal`. Threads are a resource of the machine, like its memory: at
 * most `max_threads` run, the others wait.
 */
export function createThreads<Input, Result>(
  thread: URL,
  { max_threads, timeout_ms }: { max_threads: number; timeout_ms: number },
) {
  const semaphore = createSemaphore(max_threads)
  return async (input: Input, signal?: AbortSignal): Promise<Result | null> => {
    const leave = await semaphore.enter(signal)
    if (leave === null) throw signal?.reason
    try {
      return await runThread<Result>(thread, { input, timeout_ms, signal })
    } finally {
      leave()
    }
  }
}

type ThreadRun = { input: unknown; timeout_ms: number; signal: AbortSignal | undefined }

async function runThread<Result>(
  thread: URL,
  { input, timeout_ms, signal }: ThreadRun,
): Promise<Result | null> {
  const worker = new Worker(thread, {
    workerData: input,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MIB },
  })
  const { promise, resolve, reject } = Promise.withResolvers<Result | null>()
  const timer = setTimeout(() => resolve(null), timeout_ms)
  worker.once('message', (result: Result) => resolve(result))
  worker.once('error', () => resolve(null))
  worker.once('exit', () => resolve(null))
  using _listener = signal && onAbort(signal, () => reject(signal.reason))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}
