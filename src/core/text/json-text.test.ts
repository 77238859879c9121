import { expect, test } from 'vitest'
import { jsonMistake, parseJsonExactly } from './json-text.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

test('depth is counted outside strings, and the bound itself is allowed', () => {
  expect(jsonMistake(nested(64), 64)).toBeNull()
  expect(jsonMistake(nested(65), 64)).toBe('is nested deeper than 64')
  expect(jsonMistake(`{"a":"${'['.repeat(100)}"}`, 64)).toBeNull()
  expect(jsonMistake(`{"a":"\\"${'['.repeat(100)}"}`, 64)).toBeNull()
})

test('depth 200,000 is refused immediately', () => expect(jsonMistake(nested(200_000), 64)).toBe('is nested deeper than 64'))

test('a repeated key in one object is an error in any spelling; in two objects it is valid', () => {
  expect(jsonMistake('{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}', 64)).toBeNull()
  expect(jsonMistake('{"a":1,"a":2}', 64)).toBe('contains the key "a" twice')
  expect(jsonMistake('{"x":[1,{"a":1,"b":[],"\\u0061":2}]}', 64)).toBe('contains the key "\\u0061" twice')
  expect(jsonMistake('{"a":"a","b":"a"}', 64)).toBeNull()
  expect(jsonMistake('["a","a"]', 64)).toBeNull()
  expect(jsonMistake('{"__proto__":1,"__proto__":2}', 64)).toBe('contains the key "__proto__" twice')
})

test('broken texts are left to the parser', () => {
  for (const text of ['', '{"a', '{"\\', ']]]', '{"a\\', '"\\\\', '{"\\x":1,"b":2}']) expect(jsonMistake(text, 64)).toBeNull()
})

test('numbers that a double cannot hold are written as they came', () => {
  const text =
    '{"id":1234567890123456789,"huge":1e999,"negative":-9007199254740993,"list":[12345678901234567890],"plain":[1,1.5,-0.25,1e3]}'
  expect(JSON.stringify(parseJsonExactly(text))).toBe(text.replace('1e3', '1000'))
  expect(parseJsonExactly('{"plain":[1,1.5,9007199254740991]}')).toEqual({ plain: [1, 1.5, 9007199254740991] })
})

test('a key called __proto__ is a key like any other', () => {
  expect(JSON.stringify(parseJsonExactly('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}')
})
