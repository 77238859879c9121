import { expect, test } from 'vitest'
import { createLogPages, responseWith } from './log-page-cache.ts'

const page = (bytes: number) => ({ entries: Buffer.alloc(bytes, 'x') })

test('never exceeds its bytes, and drops the page that was not requested for longest', () => {
  const pages = createLogPages(10)
  pages.put('a', page(4))
  pages.put('b', page(4))
  expect(pages.get('a')).toBeDefined()
  pages.put('c', page(4))
  expect(['a', 'b', 'c'].filter(key => pages.get(key))).toEqual(['a', 'c'])
  pages.put('huge', page(11))
  expect(['a', 'c', 'huge'].filter(key => pages.get(key))).toEqual(['a', 'c'])
})

test('a response is one piece, the same bytes until its head or tail changes', () => {
  const shared = page(3)
  const first = responseWith(shared, '[', ']')
  expect(first.toString()).toBe('[xxx]')
  expect(responseWith(shared, '[', ']')).toBe(first)
  expect(responseWith(shared, '[ä', ']').toString()).toBe('[äxxx]')
  expect(responseWith(shared, '[ä', ' ]').toString()).toBe('[äxxx ]')
  expect(shared.entries.toString()).toBe('xxx')
})
