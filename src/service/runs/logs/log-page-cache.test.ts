import { expect, test } from 'vitest'
import { createLogPages } from './log-page-cache.ts'

const page = (bytes: number) => Buffer.alloc(bytes, 'x')

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
