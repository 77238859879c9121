import { expect, test } from 'vitest'
import { createLogPages, type LogPage, listBytes, pageOf, responseWith } from './log-page-cache.ts'

const entriesOf = (length: number) => (): LogPage => ({ entries: Buffer.alloc(length, 'x') })

test('pages are counted with the responses that are kept beside them', () => {
  const pages = createLogPages(8 * 250)
  for (const key of ['a', 'b', 'c', 'a', 'b', 'c']) pages.put(key, entriesOf(100))
  expect(['a', 'b', 'c'].map(key => pages.get(key) !== undefined)).toEqual([false, true, true])
  for (const key of ['large', 'large']) pages.put(key, entriesOf(251))
  expect(pages.get('large')).toBeUndefined()
})

test('a page is kept when it was read twice, so that a reader of a whole trace displaces none', () => {
  const pages = createLogPages(8 * 250)
  for (const key of ['kept', 'kept']) pages.put(key, entriesOf(100))
  for (const n of Array(2_000).keys()) pages.put(`once ${n}`, () => expect.unreachable('read once'))
  expect(pages.get('kept')).toBeDefined()
  // Forgotten meanwhile, like every page that was read so long ago.
  pages.put('once 0', () => expect.unreachable('read long ago'))
  pages.put('once 1999', entriesOf(100))
  expect(pages.get('once 1999')).toBeDefined()
})

test('a list is one piece of text, and the page of it has its entries', () => {
  const [head, tail] = ['{"é":[', ']}']
  expect(listBytes(head, [], tail).toString()).toBe('{"é":[]}')
  const bytes = listBytes(head, ['"ö"', '{"a":"☃😀"}', '3'], tail)
  expect(bytes.toString()).toBe('{"é":["ö",{"a":"☃😀"},3]}')
  const page = pageOf(bytes, head, tail)
  expect(page.entries.toString()).toBe('"ö",{"a":"☃😀"},3')
  expect(responseWith(page, head, tail)).toBe(bytes)
})

test('a response is kept only while the entries are the larger part of it', () => {
  const page = entriesOf(100)()
  const large = 'é'.repeat(50)
  expect(responseWith(page, large, ']').toString()).toBe(`${large}${'x'.repeat(100)}]`)
  expect(page.response).toBeUndefined()
  const kept = responseWith(page, '[', ']')
  expect(kept.toString()).toBe(`[${'x'.repeat(100)}]`)
  expect(responseWith(page, '[', ']')).toBe(kept)
  expect(page.entries).toHaveLength(100)
})
