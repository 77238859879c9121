import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clampLines, lastLines } from './clamped.tsx'
import { editLines } from './edit-diff.tsx'

const draw = (before: string, after: string) => editLines(before, after).map(({ sign, text }) => sign + text)

test('an edit shows removed and added lines, and the lines around them once', () => {
  expect(draw('a\nb\nc\n', 'a\nB\nB2\nc\n')).toEqual([' a', '-b', '+B', '+B2', ' c'])
})

test('a new file is all additions, and nothing is counted twice', () => {
  expect(draw('', 'a\nb\n')).toEqual(['+a', '+b'])
  expect(draw('a\na\n', 'a\n')).toEqual([' a', '-a'])
  expect(draw('same\n', 'same\n')).toEqual([' same'])
  expect(draw('', '')).toEqual([])
})

test('an edit of thousands of lines is all old lines, then all new ones', () => {
  const text = (prefix: string) => Array.from({ length: 2_000 }, (_, n) => `${prefix}${n}\n`).join('')
  const signs = editLines(text('a'), text('b')).map(({ sign }) => sign)
  expect(signs.join('')).toBe('-'.repeat(2_000) + '+'.repeat(2_000))
})

test('taking the removed or the added lines out of a diff gives the text before or after', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = editLines(before.join('\n'), after.join('\n'))
      const without = (sign: string) => diff.filter(line => line.sign !== sign).map(line => line.text)
      const split = (lines: string[]) =>
        lines.join('\n') === '' ? [] : lines.join('\n').replace(/\n$/, '').split('\n')
      expect(without('+')).toEqual(split(before))
      expect(without('-')).toEqual(split(after))
    }),
  )
})

test('a long text is cut at a line, with the number of lines that are left', () => {
  expect(clampLines('1\n2\n3\n4', 2)).toEqual({ shown: '1\n2', hidden: 2 })
  expect(clampLines('1\n2\n', 2)).toEqual({ shown: '1\n2\n', hidden: 0 })
  expect(clampLines('', 2)).toEqual({ shown: '', hidden: 0 })
})

test('the last lines of a text are shown with the number of those before them', () => {
  expect(lastLines('1\n2\n3\n4\n', 2)).toEqual({ shown: '3\n4', hidden: 2 })
  expect(lastLines('1\n2', 2)).toEqual({ shown: '1\n2', hidden: 0 })
  expect(lastLines('\n1', 1)).toEqual({ shown: '1', hidden: 1 })
  expect(lastLines('', 2)).toEqual({ shown: '', hidden: 0 })
})
