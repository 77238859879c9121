import { expect, test } from 'vitest'
import { firstLine, plainText } from './plain-text.ts'
import { createPrinter } from './printer.ts'

test.each([
  ['colours and cursor movements', '\u001b[1;31mred\u001b[0m \u001b[2J\u001b[Hgone\u001b[?25l', 'red gone'],
  [
    'titles, clipboard writes and links',
    '\u001b]0;owned\u0007a\u001b]52;c;ZXZpbA==\u001b\\b\u001b]8;;http://evil\u001b\\c\u001b]8;;\u001b\\',
    'abc',
  ],
  ['device strings', 'a\u001bPq#0\u001b\\b\u001b_payload\u001b\\c\u001b^x\u001b\\d', 'abcd'],
  ['the same in one byte', 'a\u009b31mb\u009d0;t\u0007c\u0090x\u009cd', 'abcd'],
  ['sequences that are cut off', 'a\u001b[31', 'a'],
  ['a string that never ends takes its line only', 'a\u001b]0;title\nb', 'a\nb'],
  ['other escapes', 'a\u001bcb\u001b(0c\u001b7d', 'abcd'],
  ['control characters', 'a\u0000\u0007\b\u007fb\u0085', 'ab'],
  ['a progress bar', '10 %\r50 %\r100 %\nready\r\n', '100 %\nready\n'],
  ['text that runs backwards or hides', 'a\u202eb\u200bc\u{e0041}', 'a<U+202E>b<U+200B>c<U+E0041>'],
  ['half a character', `a${String.fromCharCode(0xd800)}b`, 'ab'],
  ['what may stay', 'tab\tline\nüñ 日本 👍🏽', 'tab\tline\nüñ 日本 👍🏽'],
])('%s', (_what, text, shown) => expect(plainText(text)).toBe(shown))

test('no remaining text can control a terminal, in every combination of pieces', () => {
  const pieces = [
    '\u001b',
    '[',
    ']',
    '0;x',
    '\u0007',
    '\\',
    '\u009b',
    'P',
    '\u009c',
    '31m',
    'c',
    '\r',
    '\u0090',
    '\u202e',
  ]
  for (const a of pieces)
    for (const b of pieces)
      for (const c of pieces)
        for (const d of pieces)
          expect(plainText(`${a}${b}${c}${d}`)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
})

test('a first line indicates that there is more', () => {
  expect(firstLine('one')).toBe('one')
  expect(firstLine('\n\n  one\ntwo')).toBe('one …')
  expect(firstLine('x'.repeat(501))).toBe(`${'x'.repeat(500)}…`)
  expect(firstLine('')).toBe('')
})

test('a document on a terminal keeps its values and cannot control the terminal', () => {
  const value = {
    title: 'a\u009b31m\u009d52;c;eA==\u0007\u007f',
    result: 'b\u202ec\u{e0041}\u001b]0;x',
    'k\u009be': '\u00fc\u65e5',
  }
  const written: string[] = []
  createPrinter({ write: text => written.push(text), isTTY: true }, { write: () => {} }, {}).json(value)
  const shown = written.join('')
  expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u{e0041}]/u)
  expect(JSON.parse(shown)).toEqual(value)
})

test('carriage returns without end take linear time', () => {
  expect(plainText(`a\rb${'\r'.repeat(200_000)}`)).toBe('b')
  expect(plainText(`${'a\r'.repeat(100_000)}b\r\r\nc`)).toBe('b\nc')
  expect(plainText('\u2028'.repeat(200_000))).toBe('<U+2028>'.repeat(200_000))
})
