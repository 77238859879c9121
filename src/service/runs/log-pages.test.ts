import { expect, test } from 'vitest'
import { createLogPages } from './log-pages.ts'

const page = (bytes: number) => Buffer.alloc(bytes, 'x')

test('never holds more than its bytes, and lets go of what was not asked for longest', () => {
  const pages = createLogPages(10)
  pages.put('a', page(4))
  pages.put('b', page(4))
  expect(pages.get('a')).toBeDefined()
  pages.put('c', page(4))
  expect(['a', 'b', 'c'].filter(key => pages.get(key))).toEqual(['a', 'c'])
  pages.put('huge', page(11))
  expect(['a', 'c', 'huge'].filter(key => pages.get(key))).toEqual(['a', 'c'])
})
