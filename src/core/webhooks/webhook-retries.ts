import { exponential, type RetryPolicy, retryDelay } from '../retry-policy.ts'

/**
 * Seconds from a failed attempt to the next: after the first, the second … The last one holds for all that
 * follow.
 */
export const RETRY_SECONDS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600] as const
const retries: RetryPolicy = { delays: RETRY_SECONDS, jitter: [0.8, 1.2], max_retry_after: 3_600 }
/** How long a delivery is retried after it entered the queue (specification.md#events). */
export const GIVE_UP_SECONDS = 86_400
/** After this number of failed attempts in a row the webhook rests after each further one. */
export const FAILURES_TO_REST = 5
const rests = exponential(10, 600, [1, 1])

/** The result of one attempt. `status` null: no response. `refused`: the address may not be reached. */
export type AttemptOutcome = {
  status: number | null
  error: string | null
  refused: boolean
  latency_ms: number
  /** The beginning of the response body; null when there was none. */
  answer: string | null
  /** The delay that the receiver requests, in seconds. */
  retry_after: number | null
}
export type Verdict = 'delivered' | 'gone' | 'refused' | 'failed'

/** Returns what an attempt means. Only 2xx counts as delivered; 410 means that the endpoint was removed. */
export function verdictOf({ status, refused }: Pick<AttemptOutcome, 'status' | 'refused'>): Verdict {
  if (refused) return 'refused'
  if (status !== null && status >= 200 && status < 300) return 'delivered'
  return status === 410 ? 'gone' : 'failed'
}

/**
 * Seconds until the next attempt.
 * @param tries attempts so far, the failed one included
 * @param retry_after the delay that the receiver requests
 * @param random from 0 to 1
 */
export const retrySeconds = (tries: number, retry_after: number | null, random: number): number =>
  retryDelay(retries, tries, retry_after, random)

/** Seconds for which a webhook rests after this number of failures in a row, or null if it does not. */
export const restSeconds = (failures: number): number | null =>
  failures < FAILURES_TO_REST ? null : retryDelay(rests, failures - FAILURES_TO_REST + 1)

/** Parses `Retry-After` in seconds, from a number or a date; null for anything else. */
export function readRetryAfter(value: string | undefined, now_ms: number): number | null {
  if (value === undefined) return null
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now_ms) / 1_000))
}
