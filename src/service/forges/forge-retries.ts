import { exponential, retryDelay } from '../../core/retry-policy.ts'
import { ForgeError } from '../../forge/port.ts'

/** Seconds. */
const retries = exponential(2, 900)
/** About a day. */
const MAX_ATTEMPTS = 100

/**
 * Returns the seconds from failed attempt number `attempt` to the next, at least what the forge requests;
 * null: it was the last one.
 */
export function nextForgeAttempt(
  error: unknown,
  attempt: number,
  max_attempts = MAX_ATTEMPTS,
): number | null {
  if (attempt >= max_attempts) return null
  return retryDelay(retries, attempt, error instanceof ForgeError ? error.retry_after_seconds : null)
}
