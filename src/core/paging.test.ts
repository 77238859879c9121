import { expect, test } from 'vitest'
import { pageNumbers, pageWindow } from './paging.ts'

test('skip and limit win over their aliases, and everything has a default', () => {
  expect(pageWindow({})).toEqual({ skip: 0, limit: 100 })
  expect(pageWindow({ page: 3, size: 20 })).toEqual({ skip: 40, limit: 20 })
  expect(pageWindow({ skip: 5, limit: 10, page: 3, size: 20 })).toEqual({ skip: 5, limit: 10 })
})

test('page counts from 1, pages rounds up and is 0 for an empty list', () => {
  expect(pageNumbers(0, { skip: 0, limit: 100 })).toEqual({ page: 1, size: 100, pages: 0 })
  expect(pageNumbers(101, { skip: 100, limit: 100 })).toEqual({ page: 2, size: 100, pages: 2 })
  expect(pageNumbers(7, pageWindow({ page: 999_999_999, size: 100 })).page).toBe(999_999_999)
  expect(pageNumbers(7, { skip: 900, limit: 3 })).toEqual({ page: 301, size: 3, pages: 3 })
})
