import { expect, test } from 'vitest'
import { EndOfText } from './end-of-text.ts'

const LONG = 'a'.repeat(256 * 1024)
const ended = (...pieces: string[]) => {
  const text = new EndOfText()
  for (const piece of pieces) text.add(piece)
  return text.take()
}

test('a text of allowed length is whole, however it arrives', () => {
  expect(ended('one\n', 'two')).toBe('one\ntwo')
  expect(ended(LONG)).toBe(LONG)
})

test('a longer one loses whole lines, and never only the beginning of one', () => {
  expect(ended('first\nlast\n', LONG.slice(5))).toBe(`last\n${LONG.slice(5)}`)
  expect(ended(`${LONG}s`, 'ecret', ' and more\nlast', ' line')).toBe('last line')
  expect(ended(`${LONG}s`, 'ecret')).toBe('')
  expect(ended(`first\n${LONG}s`, 'ecret')).toBe('')
  expect(ended(`${LONG}s`, 'ecret\n')).toBe('')
})

test('what is taken is forgotten, and the next text begins with its first character', () => {
  const text = new EndOfText()
  text.add(`${LONG}x`)
  expect(text.take()).toBe('')
  text.add('next')
  expect([text.take(), text.take()]).toEqual(['next', ''])
})
