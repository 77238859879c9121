import { ModelError, type ModelRequest } from './port.ts'
import { streamEndSeeker } from './response/stream-end.ts'

/** Bytes a response may have on the wire; deltas carry up to fifty times the bytes of the text in them. */
const MAX_STREAM_BYTES = 64 * 1024 * 1024
/** Bytes of one event line: the parser behind it searches a growing line again with every chunk. */
const MAX_LINE_BYTES = 8 * 1024 * 1024
/** An error page longer than this is truncated; its beginning has the error. */
const MAX_ERROR_BYTES = 256 * 1024
/**
 * How long a server may take to close after the end of the stream, in ms: a connection that it closes itself
 * can be reused.
 */
const LINGER_MS = 250

/**
 * Bounds one call: abort, first byte, idle gap, total time, bytes on the wire. The first reason to stop wins
 * and stays.
 */
export type CallGuard = Disposable & {
  readonly signal: AbortSignal
  /** Why the call was stopped; null while it runs. */
  failure(): ModelError | null
  stop(failure: ModelError): void
  /** Rejects as soon as the call is stopped, whatever the reader of the stream does. */
  readonly stopped: Promise<never>
  /**
   * A fetch whose responses are watched. It never follows a redirect: the key must not travel to another
   * host.
   */
  readonly fetch: typeof globalThis.fetch
}

/**
 * Returns a `fetch` that ends a model call at its timeouts and at its signal, and what states why it ended:
 * ModelError `timeout` or `aborted`. `quiet` is the timer of the first byte, then of the pause between two
 * parts of the response.
 */
export function guardCall(
  { timeouts, signal, on_progress }: Pick<ModelRequest, 'timeouts' | 'signal' | 'on_progress'>,
  send: typeof globalThis.fetch = globalThis.fetch,
): CallGuard {
  const controller = new AbortController()
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  stopped.catch(() => {})
  let failure: ModelError | null = null
  const stop = (why: ModelError) => {
    if (failure) return
    failure = why
    reject(why)
    controller.abort(why)
  }
  const late = (what: string, ms: number) =>
    setTimeout(() => stop(new ModelError('timeout', `The model ${what} within ${ms} ms.`)), ms)
  const total = late('did not finish its response', timeouts.total_ms)
  let quiet = late('sent nothing', timeouts.first_byte_ms)
  const onData = () => {
    clearTimeout(quiet)
    quiet = late('stopped in the middle of its response and sent nothing', timeouts.idle_ms)
  }
  const over = (close: () => void) => {
    clearTimeout(quiet)
    quiet = setTimeout(close, LINGER_MS)
  }
  const onAbort = () => stop(new ModelError('aborted', 'The call was stopped.'))
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort, { once: true })

  const watchedFetch: typeof globalThis.fetch = async (input, init) => {
    const response = await send(input, { ...init, redirect: 'manual' })
    if (response.ok) on_progress?.()
    if (!response.body) return response
    const responding = () => {
      onData()
      on_progress?.()
    }
    const watch = response.ok ? watchResponse(responding, over, stop) : cutErrorPage(onData)
    return new Response(response.body.pipeThrough(watch), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    })
  }
  return {
    signal: controller.signal,
    failure: () => failure,
    stop,
    stopped,
    fetch: watchedFetch,
    [Symbol.dispose]() {
      clearTimeout(total)
      clearTimeout(quiet)
      signal?.removeEventListener('abort', onAbort)
    },
  }
}

/**
 * Passes a response on up to the end that the stream announces; `over` then receives the function that closes
 * it.
 */
function watchResponse(
  onData: () => void,
  over: (close: () => void) => void,
  stop: (failure: ModelError) => void,
): TransformStream<Uint8Array, Uint8Array> {
  const isEnd = streamEndSeeker()
  let ended = false
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let bytes = 0
  let line = 0
  const check = (chunk?: Uint8Array) => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      stop(new ModelError('malformed', 'The response of the model is not valid UTF-8.'))
    }
  }
  return new TransformStream({
    transform(chunk, controller) {
      if (ended) return
      onData()
      bytes += chunk.length
      const end = chunk.lastIndexOf(0x0a)
      line = end < 0 ? line + chunk.length : chunk.length - end
      if (bytes > MAX_STREAM_BYTES)
        stop(
          new ModelError(
            'malformed',
            `The response of the model has more than ${MAX_STREAM_BYTES} bytes on the wire.`,
          ),
        )
      else if (line > MAX_LINE_BYTES)
        stop(new ModelError('malformed', `An event of the model has more than ${MAX_LINE_BYTES} bytes.`))
      else check(chunk)
      controller.enqueue(chunk)
      ended = isEnd(chunk)
      if (ended) over(() => controller.terminate())
    },
    flush: () => check(),
  })
}

function cutErrorPage(onData: () => void): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      onData()
      bytes += chunk.length
      controller.enqueue(chunk)
      if (bytes > MAX_ERROR_BYTES) controller.terminate()
    },
  })
}
