import { expect, test } from 'vitest'
import { narrowed } from './repository-bounds.ts'

test('what is bound twice is good for what both allow, and null bounds nothing', () => {
  expect(narrowed(null, null)).toBe(null)
  expect(narrowed([1], null)).toEqual([1])
  expect(narrowed(null, [2])).toEqual([2])
  expect(narrowed([1, 2], [2, 3])).toEqual([2])
  expect(narrowed([1], [2])).toEqual([])
})
