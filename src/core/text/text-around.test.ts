import { expect, test } from 'vitest'
import { textAround } from './text-around.ts'

test('the text around the first occurrence is returned with its position, in any case', () => {
  const { around, start, length } = textAround(
    `${'a'.repeat(50)} An Error here ${'b'.repeat(50)} error`,
    'ERROR',
    10,
  )
  expect(around).toBe('aaaaaa An Error here bbbb')
  expect(around.slice(start, start + length)).toBe('Error')
})

test('positions are right beside letters whose lower case is longer, and a surrogate pair stays whole', () => {
  const { around, start, length } = textAround('İİ 😀😀needle😀😀', 'Needle', 3)
  expect(around.slice(start, start + length)).toBe('needle')
  expect(around.isWellFormed()).toBe(true)
})

test('the start of a text without an occurrence is returned, with an empty match', () => {
  expect(textAround('abcdef', 'x', 2)).toEqual({ around: 'abcd', start: 0, length: 0 })
})
