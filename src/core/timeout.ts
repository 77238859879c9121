/**
 * Settles as `work` does, or as `onTimeout` does if that takes longer than `ms`. The work itself continues.
 */
export async function withTimeout<T, Late>(
  work: Promise<T>,
  ms: number,
  onTimeout: () => Late,
): Promise<T | Late> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  try {
    return await Promise.race([work, late.promise.then(onTimeout)])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Returns true when `event` resolves within `timeout_ms`, false when it is late. Rejects when `event` does.
 */
export const settledWithin = (event: Promise<unknown>, timeout_ms: number): Promise<boolean> =>
  withTimeout(
    event.then(() => true),
    timeout_ms,
    () => false,
  )

/**
 * Rejects with the error of `late` when `response` has not settled within `ms`. An event loop that was
 * occupied meanwhile first reads what has arrived: a timer alone would be called before that.
 */
export async function respondedWithin<T>(response: Promise<T>, ms: number, late: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => setImmediate(() => setImmediate(() => reject(late()))), ms)
  try {
    return await Promise.race([response, promise])
  } finally {
    clearTimeout(timer)
  }
}
