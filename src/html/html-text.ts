import { Worker } from 'node:worker_threads'
import { onAbort } from '../core/abort.ts'
import { createSemaphore } from '../core/concurrency/semaphore.ts'

/** A page that takes longer is not converted: it was written to take long. */
const TIMEOUT_MS = 10_000
const MAX_MEMORY_MIB = 256
/** Threads of the process: a resource of the machine, like its memory. */
const threads = createSemaphore(2)
/** Lists and links can make a text much longer than its page. */
export const MAX_TEXT_CHARS = 4 * 1024 ** 2

/** `cut`: the text was longer. */
type HtmlText = { text: string; cut: boolean }

/**
 * Returns the text of an HTML page, with its links resolved against `url`, on a thread of its own: a page is written by strangers, and parsing it must not hold up other
 * runs. Null: that failed or took too long. Rejects with the reason of `signal`.
 */
export async function htmlText(html: string, url: string, signal: AbortSignal): Promise<HtmlText | null> {
  const leave = await threads.enter(signal)
  if (leave === null) throw signal.reason
  try {
    return await convertOnThread(html, url, signal)
  } finally {
    leave()
  }
}

async function convertOnThread(html: string, url: string, signal: AbortSignal): Promise<HtmlText | null> {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    ...{ workerData: { html, url, max_chars: MAX_TEXT_CHARS }, env: {}, execArgv: [] },
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MIB },
  })
  const { promise, resolve, reject } = Promise.withResolvers<HtmlText | null>()
  const timer = setTimeout(() => resolve(null), TIMEOUT_MS)
  worker.once('message', (converted: HtmlText) => resolve(converted))
  worker.once('error', () => resolve(null))
  worker.once('exit', () => resolve(null))
  using _listener = onAbort(signal, () => reject(signal.reason))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}
