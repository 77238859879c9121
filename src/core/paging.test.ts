import { expect, test } from 'vitest'
import { type Cursor, cursor, decodeCursor, encodeCursor } from '../contract/page.ts'
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

const cursors: Cursor[] = [
  { backward: false, key: 0, seen: 0, list: 'x' },
  { backward: true, key: 999_999_999_999_999, seen: 999_999_999, list: 'a_-9' },
  { backward: false, key: 'NPM_TOKEN', seen: 100, list: 'x' },
  { backward: true, key: 'write-tests', seen: 3, list: 'x' },
]

test('a cursor is read as it was written, in letters that need no escape in an address', () => {
  for (const one of cursors) {
    const text = encodeCursor(one)
    expect(decodeCursor(text)).toEqual(one)
    expect(encodeURIComponent(text)).toBe(text)
  }
})

test('every other text is refused: no value of a forged cursor has another type than that of the list', () => {
  const written = encodeCursor({ backward: false, key: 7, seen: 1, list: 'x' })
  const forged = [
    'nn.1.x.7 or true',
    'nn.1.x.',
    'nn.-1.x.7',
    'xn.1.x.7',
    'nk.1.x.a b',
    'nn.1.x.07',
    'nn.01.x.7',
    `nk.1.x.${'a'.repeat(101)}`,
  ]
  const texts = [
    '',
    '7',
    '%',
    'ä',
    `${written}=`,
    `${written}A`,
    written.slice(1),
    'a'.repeat(10_000),
    ...forged.map(btoa),
  ]
  for (const text of texts) expect({ text, read: decodeCursor(text) }).toEqual({ text, read: null })
  expect(cursor('number').safeParse(written).success).toBe(true)
  expect(cursor('string').safeParse(written).success).toBe(false)
  expect(cursor('number').safeParse([written, written]).error?.issues[0]?.message).toBe(
    'given more than once',
  )
})
