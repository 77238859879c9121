import { expect, test } from 'vitest'
import { ModelError } from '../model/port.ts'
import { modelRetryPolicy, waitBefore } from './model-retry-policy.ts'

const limited = (retry_after_ms: number | null) => new ModelError('rate_limited', 'later', { retry_after_ms })
const away = (retry_after_ms: number | null = null) =>
  new ModelError('unavailable', 'away', { retry_after_ms })
const wait = (
  error: ModelError,
  attempt = 1,
  waited_ms = 0,
  left_ms = Number.POSITIVE_INFINITY,
  chance = 0,
) => waitBefore(error, attempt, waited_ms, { ...modelRetryPolicy, left_ms: () => left_ms }, () => chance)

test('an unavailable provider is called five times, with growing waits; one with invalid responses twice', () => {
  expect([1, 2, 3, 4, 5].map(attempt => wait(away(), attempt, 0, Number.POSITIVE_INFINITY, 1))).toEqual([
    1_000,
    2_000,
    4_000,
    8_000,
    null,
  ])
  expect([1, 2].map(attempt => wait(new ModelError('malformed', 'what'), attempt))).toEqual([500, null])
  expect(wait(new ModelError('auth', 'no'))).toBeNull()
})

test('fault 18: every Retry-After is honoured, up to a total of a quarter of an hour', () => {
  expect(wait(limited(7_000))).toBe(7_000)
  expect(wait(limited(7_000), 40)).toBe(7_000)
  expect(wait(limited(600_000))).toBe(600_000)
  expect(wait(limited(600_000), 2, 600_000)).toBeNull()
  expect(wait(limited(3_600_000))).toBeNull()
  expect(wait(limited(null), 30, 0, Number.POSITIVE_INFINITY, 1)).toBe(60_000)
})

test('fault 18: no wait that would outlast the run is begun', () => {
  expect(wait(limited(7_000), 1, 0, 7_001)).toBe(7_000)
  expect(wait(limited(7_000), 1, 0, 6_999)).toBeNull()
  expect(wait(away(), 3, 0, 1_000)).toBeNull()
})

test('fault 18: callers with the same Retry-After retry at different times, and never too early', () => {
  for (const requested of [0, 1_000, 20_000, 300_000]) {
    const waits = [0, 0.25, 0.5, 0.75, 1].map(
      chance => wait(limited(requested), 1, 0, Number.POSITIVE_INFINITY, chance) ?? 0,
    )
    expect(Math.min(...waits)).toBe(requested)
    expect(Math.max(...waits) - requested).toBeGreaterThanOrEqual(Math.min(requested / 2, 30_000))
    expect(new Set(waits).size).toBe(5)
  }
})
