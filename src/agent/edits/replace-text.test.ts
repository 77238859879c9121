import { describe, expect, test } from 'vitest'
import { lineNumbers } from './line-numbers.ts'
import { type Region, replaceText, type TextEdit } from './replace-text.ts'

const FILE_BYTES = 4 * 1024 ** 2
const replaced = (text: string, edit: TextEdit) => replaceText(text, edit, FILE_BYTES)

const text = (before: string, old: string, next: string, replace_all = false) => {
  const result = replaced(before, { old, new: next, replace_all })
  return result.kind === 'replaced' ? result.text : result
}

describe('a replacement', () => {
  test.each([
    ['one piece of a line', 'a b c\n', 'b', 'x', 'a x c\n'],
    ['whole lines', 'a\nb\nc\n', 'a\nb\n', 'x\n', 'x\nc\n'],
    ['by nothing', 'a\nb\nc\n', 'b\n', '', 'a\nc\n'],
    ['with text that looks like a pattern', 'a.c $& (\n', '.c $& (', '$1 \\n', 'a$1 \\n\n'],
    ['at the end, without a last line break', 'a\nb', 'b', 'c', 'a\nc'],
    ['a last line that lacks the line break of `old`', 'a\nb', 'b\n', 'c\n', 'a\nc'],
    ['lines of Windows by lines of Unix', 'a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz', 'x\r\ny\r\nz\r\nc\r\n'],
    ['a part of a line of Windows by two lines', 'a\r\nb\r\n', 'b', 'x\ny', 'a\r\nx\r\ny\r\n'],
    [
      'lines of Unix by lines of Windows, where the file has none',
      'a\nb\nc\n',
      'a\r\nb',
      'x\ny',
      'x\ny\nc\n',
    ],
    ['lines of Unix by lines of Windows in both texts', 'a\nb\nc\n', 'a\r\nb', 'x\r\ny', 'x\ny\nc\n'],
    ['a part of a line of Unix by lines of Windows', 'a\nb\n', 'b', 'x\r\ny', 'a\nx\ny\n'],
    ['mixed endings that match exactly', 'a\nb\r\nc\n', 'a\nb\r\n', 'x\ny\r\n', 'x\ny\r\nc\n'],
    ['a text without line breaks by lines of Windows', 'a', 'a', 'x\r\ny', 'x\r\ny'],
    ['mixed endings: each line keeps its own', 'a\r\nb\nc\n', 'b', 'x\ny', 'a\r\nx\ny\nc\n'],
    ['mixed endings inside the text', 'a\r\nb\nc\n', 'a\nb\n', 'x\n', 'x\r\nc\n'],
    ['the last line of Windows without a line break', 'a\r\nb', 'b', 'x\ny', 'a\r\nx\r\ny'],
  ])('%s', (_name, before, old, next, after) => {
    expect(text(before, old, next)).toBe(after)
  })

  test('of every occurrence, which do not overlap', () => {
    expect(text('aaaa b aa', 'aa', 'a', true)).toBe('aa b a')
    expect(text('a\r\nb\r\na\r\nb', 'a\nb', 'x\ny', true)).toBe('x\r\ny\r\nx\r\ny')
    expect(text('a\r\nb\na\nb\r\na\r\nb\nc', 'a\nb\n', 'x\n', true)).toBe('x\r\nx\nx\r\nc')
    expect(text('a\r\nb\na\r\nb\r\nc', '\na\nb', '\nx', true)).toBe('a\r\nb\nx\r\nc')
    expect(text('a\r\nb\r\na\r\nb\r\n', '\nb\n', '\nx\n', true)).toBe('a\r\nx\r\na\r\nx\r\n')
  })
})

test('text that does not occur is missing, and one that occurs more than once is ambiguous with its lines', () => {
  expect(text('a\n', 'b', 'c')).toEqual({ kind: 'missing' })
  expect(text('a\n', 'A', 'c')).toEqual({ kind: 'missing' })
  expect(text('a\nb\na a\n', 'a', 'c')).toEqual({ kind: 'ambiguous', lines: [1, 3, 3], more: false })
})

describe('the time is linear in a file of 4 MB', () => {
  const one_line = 'e'.repeat(FILE_BYTES)

  test('with one line: an ambiguous text, each of its occurrences, and one that almost matches everywhere', () => {
    expect(text(one_line, 'e', 'f')).toEqual({
      kind: 'ambiguous',
      lines: Array.from({ length: 20 }, () => 1),
      more: true,
    })
    const half = 'e'.repeat(49_000)
    expect(text(one_line, `${half}x${half}`, 'f')).toEqual({ kind: 'missing' })
    expect(text(`${one_line}\r\n`, `${half}\n${half}`, 'f')).toEqual({ kind: 'missing' })
    const parts = Array.from({ length: 99_999 }, () => 'x'.repeat(40))
    expect(text(`\r\n${parts.join('y')}`, 'y', 'z', true)).toBe(`\r\n${parts.join('z')}`)
  })

  test('with short lines: the changed parts are limited, and later edits find them', () => {
    const lines = Array.from({ length: 90_000 }, (_, i) => `line ${i}\n`).join('')
    const result = replaced(lines, { old: 'line', new: 'l', replace_all: true })
    if (result.kind !== 'replaced') throw new Error(result.kind)
    expect(result.count).toBe(90_000)
    expect(result.regions).toHaveLength(61)
    expect(result.regions.at(-1)?.end).toBe(result.text.lastIndexOf('l') + 1)
    expect(result.text.slice(result.moved(lines.indexOf('line 89999')))).toBe('l 89999\n')
  })

  test('and a replacement that makes it too large, or too many of them, are refused before the text exists', () => {
    const many = 'more than 100000 times'
    expect(text(one_line, 'e', 'f', true)).toEqual({
      kind: 'excessive',
      limit: expect.stringContaining(many),
    })
    const limit = 'the file would have 4500000000 bytes, more than 4194304'
    expect(text('e'.repeat(9_000), 'e', 'x'.repeat(500_000), true)).toEqual({ kind: 'excessive', limit })
  })
})

test('the changed parts are found after further edits, before and after them', () => {
  let now = 'one two\nthree\nfour\n'
  let regions: Region[] = []
  for (const [old, next] of [
    ['three', '3'],
    ['one', 'eleven'],
    ['four', 'IIII'],
    ['e', 'EE'],
  ] as const) {
    const result = replaced(now, { old, new: next, replace_all: true })
    if (result.kind !== 'replaced') throw new Error(old)
    regions = [
      ...regions.map(({ start, end }) => ({ start: result.moved(start), end: result.moved(end) })),
      ...result.regions,
    ]
    now = result.text
  }
  expect(now).toBe('EElEEvEEn two\n3\nIIII\n')
  // Parts in one line are one part.
  expect(regions.map(({ start, end }) => now.slice(start, end))).toEqual([
    '3',
    'EElEEvEEn',
    'IIII',
    'EElEEvEE',
  ])
  expect(regions.map(({ start }) => lineNumbers(now)(start))).toEqual([2, 1, 3, 1])
})
