import { expect, test } from 'vitest'
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
  ['one changed line of several', ['function second() {', '\tconst text = "other"', '\treturn a + 2'], 6, 1, 'the text'],
  ['a line that is nowhere else like it', ['\treturn a + 3'], 8, 0, 'the text'],
  ['a part of a line', ["from './a.ts'"], 0, 0, 'quotes'],
])('finds the nearest lines, and names the difference: %s', (_name, wanted, first, at, difference) => {
  const nearest = nearestLines(FILE, wanted)
  expect(nearest).toMatchObject({ at, count: wanted.length, difference: expect.stringContaining(difference) })
  if (first !== 8 || wanted.length > 1) expect(nearest?.first).toBe(first)
})

test('lines that go on beyond the end of the file are named', () => {
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

test('a file of 200,000 lines with the same text is compared', () => {
  const file = Array.from({ length: 200_000 }, () => '  same()')
  expect(nearestLines(file, ['same()', 'other()'])).toMatchObject({ first: 0, at: 1 })
  expect(nearestLines(file, ['unknown()'])).toBeNull()
})
