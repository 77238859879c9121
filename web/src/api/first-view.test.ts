import { expect, test } from 'vitest'
import { firstPages } from './first-view.ts'

test('the pages of the first screen are those around the named entry, or the last ones', () => {
  expect(firstPages(0, 0)).toEqual([])
  expect(firstPages(7, 0)).toEqual([0])
  expect(firstPages(100_000, 0)).toEqual([99_950])
  expect(firstPages(103, 0)).toEqual([50, 100])
  expect(firstPages(100_000, 1)).toEqual([0])
  expect(firstPages(100_000, 40)).toEqual([0, 50])
  expect(firstPages(60, 60)).toEqual([50])
  expect(firstPages(60, 61)).toEqual([0, 50])
})
