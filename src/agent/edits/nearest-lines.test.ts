import { describe, expect, test } from 'vitest'
import { nearestLines } from './nearest-lines.ts'

const FILE = [
  'import { a } from "./a.ts"',
  '',
  'function first() {',
  '\treturn a + 1',
  '}',
  '',
  'function second() {',
  '\tconst text = `it\u2019s`',
  '\treturn a + 2',
  '}',
]

test.each([
  [
    'white space',
    ['    return a + 2', '}'],
    8,
    0,
    'white space (· is a space, → a tab): the file has `→return·a·+·2`, not `····return·a·+·2`',
  ],
  ['white space at the end', ['function first() { '], 2, 0, 'white space'],
  ['quotes', ["import { a } from './a.ts'"], 0, 0, 'quotes'],
  ['a typographic quote', ["\tconst text = `it's`"], 7, 0, 'quotes'],
  ['escapes', ['import { a } from \\"./a.ts\\"'], 0, 0, 'escapes'],
  ['case', ['Function Second() {'], 6, 0, 'upper and lower case'],
  [
    'one changed line of several',
    ['function second() {', '\tconst text = "other"', '\treturn a + 2'],
    6,
    1,
    'the text',
  ],
  ['a line that is nowhere else like it', ['\treturn a + 3'], 8, 0, 'the text'],
  ['a part of a line', ["from './a.ts'"], 0, 0, 'quotes'],
])('finds the nearest lines, and names the difference: %s', (_name, wanted, first, at, difference) => {
  const nearest = nearestLines(FILE, wanted)
  expect(nearest).toMatchObject({ at, count: wanted.length, difference: expect.stringContaining(difference) })
  if (first !== 8 || wanted.length > 1) expect(nearest?.first).toBe(first)
})

test('lines that continue beyond the end of the file are named', () => {
  expect(nearestLines(FILE, ['\treturn a + 2', '}', 'more()'])).toMatchObject({
    first: 8,
    count: 2,
    at: 2,
    difference: 'the file ends before it',
  })
})

test('nothing is near to unrelated text, or in an empty file', () => {
  expect(nearestLines(FILE, ['SELECT * FROM users WHERE id = 7'])).toBeNull()
  expect(nearestLines([''], ['x'])).toBeNull()
  expect(nearestLines(FILE, [''])).toBeNull()
})

test('of marks that look alike, all kinds are the same', () => {
  const marks = ['a \u2014 b', '\u201cc\u201d', 'it\u201as', 'wait\u2026', 'x\u00a0y', '`name`']
  for (const [i, plain] of ['a - b', '"c"', "it's", 'wait...', 'x y', "'name'"].entries())
    expect(nearestLines(marks, [plain])).toMatchObject({
      first: i,
      difference: expect.stringMatching(/quotes|white space/),
    })
})

describe('no text makes the comparison long', () => {
  test('a hundred thousand lines after a very long one', () => {
    const wanted = ['unknown '.repeat(25_000), ...Array.from({ length: 100_000 }, (_, i) => `${i}`)]
    expect(nearestLines(['other()'], wanted)).toBeNull()
  })

  test('a part that almost matches at each position of a long line', () => {
    const half = 'ab'.repeat(24_000)
    expect(nearestLines(['ab'.repeat(2_000_000)], [`${half}c${half}`])).toMatchObject({
      first: 0,
      difference: 'it differs in the text',
    })
  })
})

test('a file of 200,000 lines with the same text is compared', () => {
  const file = Array.from({ length: 200_000 }, () => '  same()')
  expect(nearestLines(file, ['same()', 'other()'])).toMatchObject({ first: 0, at: 1 })
  expect(nearestLines(file, ['unknown()'])).toBeNull()
})
