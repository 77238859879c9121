import { expect, test } from 'vitest'
import {
  FAILURES_TO_REST,
  RETRY_SECONDS,
  readRetryAfter,
  restSeconds,
  retrySeconds,
  verdictOf,
} from './webhook-retries.ts'

test('2xx alone is delivered: a redirect is not followed and not believed', () => {
  for (const status of [200, 201, 202, 204, 299])
    expect(verdictOf({ status, refused: false })).toBe('delivered')
  for (const status of [100, 199, 300, 301, 302, 307, 400, 401, 404, 409, 429, 500, 503, null])
    expect(verdictOf({ status, refused: false })).toBe('failed')
  expect(verdictOf({ status: 410, refused: false })).toBe('gone')
  expect(verdictOf({ status: null, refused: true })).toBe('refused')
})

test('attempts get rarer, within a fifth of the table, and a Retry-After never makes them more frequent', () => {
  for (const [i, seconds] of RETRY_SECONDS.entries()) {
    expect(retrySeconds(i + 1, null, 0)).toBeCloseTo(seconds * 0.8)
    expect(retrySeconds(i + 1, null, 1)).toBeCloseTo(seconds * 1.2)
  }
  expect(retrySeconds(500, null, 0.5)).toBe(RETRY_SECONDS.at(-1))
  expect(retrySeconds(1, 60, 0.5)).toBe(60)
  expect(retrySeconds(9, 1, 0.5)).toBe(RETRY_SECONDS.at(-1))
  expect(retrySeconds(1, 10 ** 9, 0.5)).toBe(3_600)
})

test('a webhook rests after failures in a row, longer each time and never for more than ten minutes', () => {
  expect(restSeconds(FAILURES_TO_REST - 1)).toBeNull()
  expect([0, 1, 2].map(more => restSeconds(FAILURES_TO_REST + more))).toEqual([10, 20, 40])
  expect(restSeconds(10_000)).toBe(600)
})

test('Retry-After is a number of seconds or a date, and anything else is nothing', () => {
  expect(readRetryAfter('120', 0)).toBe(120)
  expect(readRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 0)).toBe(60)
  expect(readRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 10 ** 9)).toBe(0)
  for (const value of [undefined, 'soon', '', '-5x', '9'.repeat(20)])
    expect(readRetryAfter(value, 0)).toBeNull()
})
