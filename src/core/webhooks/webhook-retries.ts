/** Seconds between attempts: after the first, the second … The last value repeats. */
export const RETRY_SECONDS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600] as const
/** How long delivery is retried after the message was queued (specification.md#events). */
export const GIVE_UP_SECONDS = 86_400
/** After this many consecutive failures, the webhook pauses between attempts. */
export const FAILURES_TO_REST = 5
const LONGEST_REST = 600
const LONGEST_WISH = 3_600

/** The outcome of one attempt. `status` null: no response. `refused`: the address is not allowed. */
export type AttemptOutcome = {
  status: number | null
  error: string | null
  refused: boolean
  latency_ms: number
  /** The beginning of the response body; null when there was none. */
  answer: string | null
  /** The delay that the receiver requested, in seconds. */
  retry_after: number | null
}
export type Verdict = 'delivered' | 'gone' | 'refused' | 'failed'

/** Only 2xx counts as delivered. 410 means that the receiver is gone for good. */
export function verdictOf({ status, refused }: Pick<AttemptOutcome, 'status' | 'refused'>): Verdict {
  if (refused) return 'refused'
  if (status !== null && status >= 200 && status < 300) return 'delivered'
  return status === 410 ? 'gone' : 'failed'
}

/**
 * Returns the seconds until the next attempt, with a jitter of a fifth so that simultaneous failures are spread.
 * @param tries attempts so far, including the failed one
 * @param chance from 0 to 1
 */
export function retrySeconds(tries: number, wish: number | null, chance: number): number {
  const default_seconds = (RETRY_SECONDS[Math.min(tries, RETRY_SECONDS.length) - 1] ?? RETRY_SECONDS[0]) * (0.8 + 0.4 * chance)
  return wish === null ? default_seconds : Math.max(default_seconds, Math.min(wish, LONGEST_WISH))
}

/** Returns the seconds for which a webhook pauses after that many consecutive failures; null: it does not. */
export function restSeconds(failures: number): number | null {
  return failures < FAILURES_TO_REST ? null : Math.min(LONGEST_REST, 10 * 2 ** Math.min(10, failures - FAILURES_TO_REST))
}

/** Parses `Retry-After` in seconds, from a number or a date; null for anything else. */
export function readRetryAfter(value: string | undefined, now_ms: number): number | null {
  if (value === undefined) return null
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now_ms) / 1_000))
}
