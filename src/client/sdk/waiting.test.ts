import { expect, test } from 'vitest'
import { backOff, retryAfter } from './waiting.ts'

const now = Date.parse('2026-11-20T10:00:00Z')

test('Retry-After is read as whole seconds and as an HTTP date, and any other value counts as absent', () => {
  expect(retryAfter('0', now)).toBe(0)
  expect(retryAfter('7', now)).toBe(7_000)
  expect(retryAfter('Fri, 20 Nov 2026 10:00:30 GMT', now)).toBe(30_000)
  expect(retryAfter('Fri, 20 Nov 2026 09:00:00 GMT', now)).toBe(0)
  for (const other of [null, '', '-1', '1.5', '1e3', '2026-11-20', 'soon', 'Fri, 99 Nov 2026 10:00:30 GMT'])
    expect(retryAfter(other, now)).toBeNull()
})

test('waits double up to 8 s, and jitter removes at most half of each', () => {
  expect([1, 2, 3, 4, 5, 6, 400].map(failures => backOff(failures, 1))).toEqual([
    500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000,
  ])
  expect([1, 5].map(failures => backOff(failures, 0))).toEqual([250, 4_000])
})
