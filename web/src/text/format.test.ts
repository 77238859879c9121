import { expect, test } from 'vitest'
import { ago, clock, compact, duration, moment, money } from './format.ts'

test('an unknown price is never shown as a number', () => {
  expect(money(null)).toBe('unknown')
  expect(money('0')).toBe('$0')
  expect(money('0.0012')).toBe('$0.0012')
  expect(money('12.345')).toBe('$12.35')
})

test('counts fit a narrow column', () => {
  expect([0, 999, 1000, 1234, 34_567, 999_499, 999_500, 12_345_678].map(compact)).toEqual([
    '0',
    '999',
    '1k',
    '1.2k',
    '35k',
    '999k',
    '1M',
    '12M',
  ])
})

test('durations are read at a glance', () => {
  expect([12, 3240, 59_900, 65_000, 7_800_000].map(duration)).toEqual([
    '12 ms',
    '3.2 s',
    '59 s',
    '1 m 05 s',
    '2 h 10 m',
  ])
})

test('times are relative for a week, and never in the future', () => {
  const now = Date.parse('2026-11-20T10:00:00Z')
  expect(ago('2026-11-20T10:00:30Z', now)).toBe('now')
  expect(ago('2026-11-20T09:59:20Z', now)).toBe('40 s ago')
  expect(ago('2026-11-20T07:00:00Z', now)).toBe('3 h ago')
  expect(ago('2026-11-17T10:00:00Z', now)).toBe('3 d ago')
})

test('times of day have 24 hours everywhere', () => {
  const evening = new Date(2026, 10, 20, 21, 4, 31).toISOString()
  const midnight = new Date(2026, 10, 20, 0, 4, 31).toISOString()
  for (const format of [clock, moment]) {
    expect(format(evening)).toMatch(/21:04:31$/)
    expect(format(midnight)).toMatch(/0:04:31$/)
    expect(format(midnight)).not.toMatch(/(12|24):04/)
  }
})
