import { expect, test } from 'vitest'
import { limitText, shareOf } from './limit-text.ts'

test.each([
  [{ value: null, unit: 'usd', window_seconds: null }, 'no limit'],
  [{ value: '250', unit: 'usd', window_seconds: null }, '$250.00'],
  [{ value: 60, unit: 'requests', window_seconds: 30 }, '60 requests per 30 s'],
  [{ value: 5, unit: 'requests', window_seconds: 60 }, '5 requests per minute'],
  [{ value: 100, unit: 'runs', window_seconds: 86_400 }, '100 runs per day'],
  [{ value: 16 * 1024 ** 2, unit: 'bytes', window_seconds: null }, '16 MiB'],
  [{ value: 1536, unit: 'bytes', window_seconds: null }, '1.5 KiB'],
  [{ value: 7200, unit: 'seconds', window_seconds: null }, '2 h 00 m'],
  [{ value: 1, unit: 'runs', window_seconds: null }, '1 run'],
  [{ value: 200_000, unit: 'characters', window_seconds: null }, '200,000 characters'],
] as const)('a limit is shown with its unit and its window: %j is %s', (limit, text) => {
  expect(limitText(limit)).toBe(text)
})

test('a limit of 0 is used up, and one without a count has no share', () => {
  expect(shareOf({ value: 4, used: 1 })).toBe(0.25)
  expect(shareOf({ value: 0, used: 0 })).toBe(1)
  expect(shareOf({ value: '10', used: '25.5' })).toBe(1)
  expect(shareOf({ value: null, used: 3 })).toBeNull()
  expect(shareOf({ value: 3, used: null })).toBeNull()
})
