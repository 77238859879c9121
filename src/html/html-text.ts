import { Worker } from 'node:worker_threads'
import { onAbort } from '../core/abort.ts'

/** A page that takes longer is not converted: it was written to take long. */
const TIMEOUT_MS = 10_000
const MAX_MEMORY_MIB = 512

/**
 * Returns the text of an HTML page, with its links resolved against `url`, on a thread of its own: a page is written by strangers, and parsing it must not hold up other
 * runs. Null: that failed or took too long. Rejects with the reason of `signal`.
 */
export async function htmlText(html: string, url: string, signal: AbortSignal): Promise<string | null> {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    ...{ workerData: { html, url }, env: {}, execArgv: [] },
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MIB },
  })
  const { promise, resolve, reject } = Promise.withResolvers<string | null>()
  const timer = setTimeout(() => resolve(null), TIMEOUT_MS)
  worker.once('message', (text: string) => resolve(text))
  worker.once('error', () => resolve(null))
  worker.once('exit', () => resolve(null))
  using _listener = onAbort(signal, () => reject(signal.reason))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    void worker.terminate()
  }
}
