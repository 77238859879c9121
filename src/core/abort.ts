/**
 * Settles as `work` does, or rejects with the reason of `signal` if that aborts first. The work itself
 * continues.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const registration = onAbort(signal, () => reject(signal.reason))
  work.then(resolve, reject).finally(() => registration[Symbol.dispose]())
  return promise
}

/**
 * Calls `listener` once when `signal` aborts, at once if it has aborted already. Disposing removes the
 * listener.
 */
export function onAbort(signal: AbortSignal, listener: () => void): Disposable {
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
  return {
    [Symbol.dispose]: () => signal.removeEventListener('abort', listener),
  }
}
