/**
 * Returns a signal that aborts with `signal`, and with a TimeoutError after `ms`. Dispose it when the bounded
 * operation has ended. It replaces `AbortSignal.any([signal, AbortSignal.timeout(ms)])`: in Node 24 nothing
 * references a timeout inside a combined signal without listeners, and a garbage-collected timeout never
 * aborts (nodejs/node#57736).
 */
export function deadline(
  ms: number,
  signal?: AbortSignal,
): Disposable & { signal: AbortSignal; readonly passed: boolean } {
  const bounded = new AbortController()
  const end = () => bounded.abort(signal?.reason)
  let passed = false
  const timer = setTimeout(() => {
    passed = !bounded.signal.aborted
    bounded.abort(new DOMException(`Not done within ${ms} ms.`, 'TimeoutError'))
  }, ms)
  // Like AbortSignal.timeout, the timer keeps no process alive.
  timer.unref()
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted) end()
  return {
    signal: bounded.signal,
    get passed() {
      return passed
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
    },
  }
}
