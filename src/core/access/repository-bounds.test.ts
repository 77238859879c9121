import { expect, test } from 'vitest'
import { narrowed } from './repository-bounds.ts'

test('two limits allow their intersection, and null limits nothing', () => {
  expect(narrowed(null, null)).toBe(null)
  expect(narrowed([1], null)).toEqual([1])
  expect(narrowed(null, [2])).toEqual([2])
  expect(narrowed([1, 2], [2, 3])).toEqual([2])
  expect(narrowed([1], [2])).toEqual([])
})
