import { expect, test } from 'vitest'
import { fileText } from './file-text.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const big_endian = (text: string) => Buffer.from(text, 'utf16le').swap16()

test.each([
  ['utf-8', Buffer.from('Grüße 😀\r\n'), 'Grüße 😀\r\n'],
  ['utf-8', Buffer.from('\ufeffx'), 'x'],
  ['utf-8', Buffer.alloc(0), ''],
  ['utf-16le', Buffer.from('\ufeffé\n', 'utf16le'), 'é\n'],
  ['utf-16be', big_endian('\ufeffé\n'), 'é\n'],
  ['windows-1252', latin1('caf\xe9 \x80\n'), 'café €\n'],
])('%s is decoded, without its byte order mark', (encoding, bytes, text) => {
  expect(fileText(bytes, false)).toEqual({ encoding, text })
})

test.each([
  ['NUL in UTF-8', Buffer.from('a\0b')],
  ['NUL in UTF-16', Buffer.from('\ufeffa\0b', 'utf16le')],
  ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13])],
  ['half a surrogate pair', Buffer.from('\ufeff\ud83d', 'utf16le')],
  ['UTF-8 that its mark announces and that is none', Buffer.from([0xef, 0xbb, 0xbf, 0xe9])],
  ['control characters', latin1('\xe9\x01')],
])('%s is not text', (_what, bytes) => {
  expect(fileText(bytes, false)).toBeNull()
})

test('a character that the limit cuts is left out, and the file is still text', () => {
  const bytes = Buffer.from('aé').subarray(0, 2)
  expect(fileText(bytes, true)).toEqual({ encoding: 'utf-8', text: 'a' })
  expect(fileText(bytes, false)).toEqual({ encoding: 'windows-1252', text: 'aÃ' })
})
