/** How long failed work waits before its next attempt. Times are in the unit of `delays`. */
export type RetryPolicy = {
  /** The delay after the first failed attempt, the second …; the last one holds for all that follow. */
  delays: readonly number[]
  /**
   * Each delay is multiplied by a random factor from this range, so that what failed together does not come
   * again together.
   */
  jitter: readonly [number, number]
  /** The longest delay that the other side may request; absent: any. */
  max_retry_after?: number
}

/** From half of the delay to all of it. */
const JITTER = [0.5, 1] as const

/** Delays that double from `first` to `max`. None at all where `first` is 0. */
export function exponentialDelays(first: number, max: number): number[] {
  if (first <= 0) return [0]
  const delays: number[] = []
  for (let delay = first; delay < max; delay *= 2) delays.push(delay)
  return [...delays, max]
}

export const exponential = (
  first: number,
  max: number,
  jitter: readonly [number, number] = JITTER,
): RetryPolicy => ({
  delays: exponentialDelays(first, max),
  jitter,
})

/**
 * Returns the delay before the next attempt: that of the policy, or what the other side requests if that is
 * longer.
 * @param attempt attempts so far, at least 1
 * @param random from 0 to 1
 */
export function retryDelay(
  policy: RetryPolicy,
  attempt: number,
  retry_after: number | null = null,
  random: number = Math.random(),
): number {
  const { delays, jitter, max_retry_after = Number.POSITIVE_INFINITY } = policy
  const [min, max] = jitter
  const delay = (delays[Math.min(attempt, delays.length) - 1] ?? 0) * (min + (max - min) * random)
  return Math.max(delay, Math.min(retry_after ?? 0, max_retry_after))
}
