import { exponential, retryDelay } from '../../core/retry-policy.ts'

/** Milliseconds. */
const retries = exponential(500, 8_000)

/**
 * Parses `Retry-After`, given as whole seconds or as an HTTP date, to milliseconds; null when it is neither.
 */
export function retryAfter(value: string | null, now: number): number | null {
  if (value === null) return null
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000
  // An HTTP date begins with the day's name; Date.parse alone takes much that is none.
  const date = /^[A-Z][a-z]{2}/.test(value.trim()) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/**
 * Milliseconds before attempt `failures + 1`: doubling up to 8 s, of which a random half is left out so that
 * clients do not come back together.
 */
export const backOff = (failures: number, random: number): number =>
  retryDelay(retries, failures, null, random)
