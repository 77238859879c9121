import { expect, test } from 'vitest'
import { isSoundJson, text } from './text.ts'

const messages = (schema: ReturnType<typeof text>, value: unknown) =>
  schema.safeParse(value).error?.issues.map(issue => issue.message)

test('characters are counted as people count them, not as UTF-16 does', () => {
  const schema = text(1, 5)
  expect(schema.parse('😀😀😀😀😀')).toBe('😀😀😀😀😀')
  expect(messages(schema, '😀😀😀😀😀😀')).toEqual(['must have at most 5 characters'])
  expect(messages(schema, '')).toEqual(['must not be empty'])
  expect(messages(schema, null)).toEqual(['must be a string'])
})

test('text that cannot be stored unchanged is refused', () => {
  const schema = text(1, 100)
  for (const value of ['a\0b', 'a\ud800b', '\udc00'])
    expect(messages(schema, value)).toEqual(['must not hold NUL or half a surrogate pair'])
  for (const value of ['\u0001\u001b', '\ufeffa', 'a\u2028b\u202e', '\uffff', '👩‍👩‍👧'])
    expect(schema.parse(value)).toBe(value)
})

test('with trim, white space alone counts as empty', () => {
  expect(text(1, 3, { trim: true }).parse(' \n abc\t')).toBe('abc')
  expect(messages(text(1, 3, { trim: true }), ' \n ')).toEqual(['must not be empty'])
})

test('the same holds for keys and values of JSON that is stored unchanged', () => {
  for (const value of [
    { 'a\0': 1 },
    { a: ['\0'] },
    { '\ud800': 1 },
    { a: { b: 'x\\\udfff' } },
    { a: '😀\ude00' },
    { a: '\udbff\udbff' },
  ])
    expect([value, isSoundJson(JSON.stringify(value))]).toEqual([value, false])
  for (const value of [
    { a: '\\u0000' },
    { '\\ud800': 1 },
    { a: '\\\\ud800' },
    { a: '😀\ud7ff\ue000\u0001' },
    { a: '\\' },
  ])
    expect([value, isSoundJson(JSON.stringify(value))]).toEqual([value, true])
})
