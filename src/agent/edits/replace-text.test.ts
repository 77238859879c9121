import { describe, expect, test } from 'vitest'
import { lineAt, type Region, replaceText, shifted } from './replace-text.ts'

const text = (before: string, old: string, next: string, replace_all = false) => {
  const replaced = replaceText(before, { old, new: next, replace_all })
  return replaced.kind === 'replaced' ? replaced.text : replaced
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
    ['lines of Unix by lines of Windows, where the file has none', 'a\nb\nc\n', 'a\r\nb', 'x\ny', 'x\ny\nc\n'],
    ['mixed endings: each line keeps its own', 'a\r\nb\nc\n', 'b', 'x\ny', 'a\r\nx\ny\nc\n'],
    ['mixed endings inside the text', 'a\r\nb\nc\n', 'a\nb\n', 'x\n', 'x\r\nc\n'],
    ['the last line of Windows without a line break', 'a\r\nb', 'b', 'x\ny', 'a\r\nx\r\ny'],
  ])('%s', (_name, before, old, next, after) => {
    expect(text(before, old, next)).toBe(after)
  })

  test('of every occurrence, which do not overlap', () => {
    expect(text('aaaa b aa', 'aa', 'a', true)).toBe('aa b a')
    expect(text('a\r\nb\r\na\r\nb', 'a\nb', 'x\ny', true)).toBe('x\r\ny\r\nx\r\ny')
  })
})

test('text that does not occur is missing, and one that occurs more than once is ambiguous with its lines', () => {
  expect(text('a\n', 'b', 'c')).toEqual({ kind: 'missing' })
  expect(text('a\n', 'A', 'c')).toEqual({ kind: 'missing' })
  expect(text('a\nb\na a\n', 'a', 'c')).toEqual({ kind: 'ambiguous', lines: [1, 3, 3] })
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
    const replaced = replaceText(now, { old, new: next, replace_all: true })
    if (replaced.kind !== 'replaced') throw new Error(old)
    regions = shifted(regions, replaced.regions)
    now = replaced.text
  }
  expect(now).toBe('EElEEvEEn two\n3\nIIII\n')
  expect(now.slice(regions[0]?.start, regions[0]?.end)).toBe('3')
  expect(now.slice(regions[2]?.start, regions[2]?.end)).toBe('IIII')
  expect(regions.slice(3).map(({ start, end }) => now.slice(start, end))).toEqual(['EE', 'EE', 'EE'])
  expect(lineAt(now, regions[2]?.start ?? 0)).toBe(3)
})
