import { expect, test } from 'vitest'
import { bytesOfPath, shownPath, shownText } from './shown-text.ts'

test('a path in UTF-8 is itself, newlines included', () => {
  expect(shownPath(Buffer.from('dé/a\nb'))).toBe('dé/a\nb')
})

test('paths that are not UTF-8 stay different from each other', () => {
  expect(shownPath(Buffer.from('caf\xe9"\n', 'latin1'))).toBe('"caf\\351\\"\\n"')
  expect(shownPath(Buffer.from([0xff]))).not.toBe(shownPath(Buffer.from([0xfe])))
})

test('text has no NUL and no lone surrogate', () => {
  expect(shownText(Buffer.from([97, 0, 0xed, 0xa0, 0x80, 98]))).toBe('a\ufffd\ufffd\ufffd\ufffdb')
})

test('a quoted path leads back to its bytes, and no other text does', () => {
  for (const path of ['caf\xe9"\n', '\xff/\\/\t \x01', '\xfe'].map(text => Buffer.from(text, 'latin1')))
    expect(bytesOfPath(shownPath(path))).toEqual(path)
  for (const text of ['plain', '""', '"utf-8"', '"\\303\\251"', '"\\351', '"\\999"', '"é\\351"', '"\\351"x'])
    expect(bytesOfPath(text)).toBeNull()
})
