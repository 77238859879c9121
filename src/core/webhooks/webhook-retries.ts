/** Seconds from a failed attempt to the next: of the first, the second … The last stands for all that follow. */
export const RETRY_SECONDS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600] as const
/** For how long a delivery is tried, from when it was put into the queue (specification.md#events). */
export const GIVE_UP_SECONDS = 86_400
/** So many attempts in a row that fail, and the webhook rests between one attempt and the next. */
export const FAILURES_TO_REST = 5
const LONGEST_REST = 600
const LONGEST_WISH = 3_600

/** What came of one attempt. `status` null: no answer. `refused`: the address may not be reached. */
export type AttemptOutcome = {
  status: number | null
  error: string | null
  refused: boolean
  latency_ms: number
  /** The beginning of the answer; null when there was none. */
  answer: string | null
  /** What the receiver asked for, in seconds. */
  retry_after: number | null
}
export type Verdict = 'delivered' | 'gone' | 'refused' | 'failed'

/** 2xx is delivered and nothing else is. 410 says that nobody is there any more. */
export function verdictOf({ status, refused }: Pick<AttemptOutcome, 'status' | 'refused'>): Verdict {
  if (refused) return 'refused'
  if (status !== null && status >= 200 && status < 300) return 'delivered'
  return status === 410 ? 'gone' : 'failed'
}

/**
 * Seconds until the next attempt, a fifth more or less so that those which failed together do not come again together.
 * @param tries attempts so far, the one that failed included
 * @param chance from 0 to 1
 */
export function retrySeconds(tries: number, wish: number | null, chance: number): number {
  const usual = (RETRY_SECONDS[Math.min(tries, RETRY_SECONDS.length) - 1] ?? RETRY_SECONDS[0]) * (0.8 + 0.4 * chance)
  return wish === null ? usual : Math.max(usual, Math.min(wish, LONGEST_WISH))
}

/** Seconds for which a webhook rests after so many failures in a row; null: it does not. */
export function restSeconds(failures: number): number | null {
  return failures < FAILURES_TO_REST ? null : Math.min(LONGEST_REST, 10 * 2 ** Math.min(10, failures - FAILURES_TO_REST))
}

/** `Retry-After` in seconds, from a number of them or a date; null for what is neither. */
export function readRetryAfter(value: string | undefined, now_ms: number): number | null {
  if (value === undefined) return null
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now_ms) / 1_000))
}
