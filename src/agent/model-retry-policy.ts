import { exponential, retryDelay } from '../core/retry-policy.ts'
import type { ModelError } from '../model/port.ts'

export type ModelRetryPolicy = {
  /** Maximum number of calls while a provider is unavailable, and while its responses are malformed. */
  attempts: number
  malformed_attempts: number
  first_wait_ms: number
  longest_wait_ms: number
  /** Maximum total wait for a provider that is rate-limited (429): these waits do not count as attempts. */
  limited_ms: number
  /** Milliseconds until the deadline of the run: a wait that would outlast it is not begun. */
  left_ms(): number
}

export const modelRetryPolicy: ModelRetryPolicy = {
  attempts: 5,
  malformed_attempts: 2,
  first_wait_ms: 1_000,
  longest_wait_ms: 60_000,
  limited_ms: 15 * 60_000,
  left_ms: () => Number.POSITIVE_INFINITY,
}

/**
 * Waits at least as long as the provider requests, plus jitter, so that many runs with the same wait do not
 * return at once.
 */
const MAX_SPREAD_MS = 30_000

/**
 * Returns how long to wait after failed call number `attempt`, in milliseconds; null: not again.
 * @param waited_ms what was waited for this provider since the last response
 */
export function waitBefore(
  error: ModelError,
  attempt: number,
  waited_ms: number,
  policy: ModelRetryPolicy,
  random = Math.random,
): number | null {
  if (!error.retryable) return null
  const limited = error.code === 'rate_limited'
  const attempts = error.code === 'malformed' ? policy.malformed_attempts : policy.attempts
  if (!limited && attempt >= attempts) return null
  const delays = exponential(policy.first_wait_ms, policy.longest_wait_ms)
  const backoff = retryDelay({ ...delays, jitter: [1, 1] }, attempt)
  const requested = error.retry_after_ms
  const wait =
    requested === null
      ? retryDelay(delays, attempt, null, random())
      : requested + random() * Math.min(Math.max(requested, backoff) / 2, MAX_SPREAD_MS)
  const patience = limited ? policy.limited_ms - waited_ms : Math.max(policy.longest_wait_ms, backoff)
  return wait > Math.min(patience, policy.left_ms()) ? null : wait
}
