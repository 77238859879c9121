import { expect, test } from 'vitest'
import { lineWindow } from './line-window.ts'

const of = (text: string, first: number, count: number, piece = text.length, max_bytes = 1_000) => {
  const window = lineWindow(first, count, max_bytes)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += piece) window.add(bytes.subarray(at, at + piece))
  const { bytes: kept, ...rest } = window.finish()
  return { text: kept.toString(), ...rest }
}

test.each([
  ['a\nb\nc\n', 1, 2, 'a\nb\n', 3],
  ['a\nb\nc\n', 2, 9, 'b\nc\n', 3],
  ['a\nb\nc', 3, 1, 'c', 3],
  ['a\nb\nc', 4, 1, '', 3],
  ['', 1, 5, '', 0],
  ['\n\n', 2, 1, '\n', 2],
  ['a\r\nb', 1, 1, 'a\r\n', 2],
])(
  '%j from line %i, %i lines, gives %j of %i lines, whatever the pieces',
  (text, first, count, expected, total_lines) => {
    for (const piece of [1, 2, 3, 100])
      expect(of(text, first, count, piece)).toEqual({
        text: expected,
        cut: false,
        total_lines,
        total_bytes: text.length,
      })
  },
)

test('keeps no more than its maximum, and still counts all', () => {
  const text = `${'x'.repeat(50)}\nlast\n`
  expect(of(text, 1, 10, 7, 20)).toEqual({
    text: 'x'.repeat(20),
    cut: true,
    total_lines: 2,
    total_bytes: text.length,
  })
})

test('a line that does not fit after others is left out as a whole', () => {
  expect(of('first\nsecond\nthird\n', 1, 10, 7, 9)).toEqual({
    text: 'first\n',
    cut: true,
    total_lines: 3,
    total_bytes: 19,
  })
  expect(of('first\nsecond\nthird\n', 2, 2, 7, 7)).toEqual({
    text: 'second\n',
    cut: true,
    total_lines: 3,
    total_bytes: 19,
  })
})
