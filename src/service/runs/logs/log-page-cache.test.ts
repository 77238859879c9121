import { expect, test } from 'vitest'
import { createLogPages, type LogPage, responseWith } from './log-page-cache.ts'

const pageOf = (length: number): LogPage => ({ entries: Buffer.alloc(length, 'x') })

test('pages are counted with the responses that are kept beside them', () => {
  const pages = createLogPages(8 * 250)
  for (const key of ['a', 'b', 'c']) pages.put(key, pageOf(100))
  expect(['a', 'b', 'c'].map(key => pages.get(key) !== undefined)).toEqual([false, true, true])
  pages.put('large', pageOf(251))
  expect(pages.get('large')).toBeUndefined()
})

test('a response is kept only while the entries are the larger part of it', () => {
  const page = pageOf(100)
  const large = 'é'.repeat(50)
  expect(responseWith(page, large, ']').toString()).toBe(`${large}${'x'.repeat(100)}]`)
  expect(page.response).toBeUndefined()
  const kept = responseWith(page, '[', ']')
  expect(kept.toString()).toBe(`[${'x'.repeat(100)}]`)
  expect(responseWith(page, '[', ']')).toBe(kept)
  expect(page.entries).toHaveLength(100)
})
