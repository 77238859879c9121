import { expect, test } from 'vitest'
import { firstPages } from './first-view.ts'

test('the pages of the first screen are those around the named entry, or the last ones', () => {
  expect(firstPages(0, 0)).toEqual([])
  expect(firstPages(7, 0)).toEqual([0])
  expect(firstPages(100_000, 0)).toEqual([99_972, 99_984, 99_996])
  expect(firstPages(103, 0)).toEqual([72, 84, 96])
  expect(firstPages(100_000, 1)).toEqual([0, 12])
  expect(firstPages(100_000, 40)).toEqual([36, 48, 60])
  expect(firstPages(60, 60)).toEqual([48])
  expect(firstPages(60, 61)).toEqual([36, 48])
})
