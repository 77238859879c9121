import { expect, test } from 'vitest'
import { parseJsonExactly, repeatedKey } from './json-text.ts'

test('a repeated key in one object is found in any spelling; in two objects it is none', () => {
  expect(repeatedKey('{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}')).toBeNull()
  expect(repeatedKey('{"a":1,"a":2}')).toBe('"a"')
  expect(repeatedKey('{"x":[1,{"a":1,"b":[],"\\u0061":2}]}')).toBe('"\\u0061"')
  expect(repeatedKey('{"a":"a","b":"a"}')).toBeNull()
  expect(repeatedKey('["a","a"]')).toBeNull()
  expect(repeatedKey('{"__proto__":1,"__proto__":2}')).toBe('"__proto__"')
})

test('broken texts are left to the parser', () => {
  for (const text of ['', '{"a', '{"\\', ']]]', '{"a\\', '"\\\\', '{"\\x":1,"b":2}'])
    expect(repeatedKey(text)).toBeNull()
})

test('numbers that a double cannot hold are written as they came', () => {
  const text =
    '{"id":1234567890123456789,"huge":1e999,"negative":-9007199254740993,"list":[12345678901234567890],"plain":[1,1.5,-0.25,1e3]}'
  expect(JSON.stringify(parseJsonExactly(text))).toBe(text.replace('1e3', '1000'))
  expect(parseJsonExactly('{"plain":[1,1.5,9007199254740991]}')).toEqual({
    plain: [1, 1.5, 9007199254740991],
  })
})

test('a key called __proto__ is a key like any other', () => {
  expect(JSON.stringify(parseJsonExactly('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}')
})
