import { expect, test } from 'vitest'
import { truncateBytes, truncateStrings, truncateText } from './truncate.ts'

test('a short text stays as it is', () => {
  expect(truncateText('abc', 3)).toEqual({ text: 'abc', cut: false })
})

test('a long text keeps its head and its tail and reports the missing length', () => {
  const { text, cut } = truncateText(`${'a'.repeat(5000)}${'z'.repeat(5000)}`, 1000)
  expect(cut).toBe(true)
  expect(text).toMatch(/^a{500}\n… 9000 characters left out …\nz{500}$/)
})

test('a cut never leaves half of a character pair', () => {
  expect(truncateText('😀'.repeat(1000), 101).text.isWellFormed()).toBe(true)
})

test('strings anywhere in a value are bounded together, its shape stays', () => {
  const { value, cut } = truncateStrings({ a: 'x'.repeat(5000), b: [1, null, 'y'.repeat(5000)] }, 1000)
  expect(cut).toBe(true)
  expect(JSON.stringify(value).length).toBeLessThan(2500)
  expect(value).toMatchObject({ b: [1, null, expect.any(String)] })
})

test('fault 45: wide or deep values are truncated too, without visiting all of them', () => {
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 1]))
  const { value, cut } = truncateStrings({ wide, list: Array(50_000).fill(1) }, 100)
  expect(cut).toBe(true)
  expect(JSON.stringify(value).length).toBeLessThan(150_000)
  expect(truncateStrings(JSON.parse(`${'['.repeat(30)}1${']'.repeat(30)}`), 100).cut).toBe(true)
  expect(truncateStrings({ a: [1, { b: null }] }, 100)).toEqual({
    value: { a: [1, { b: null }] },
    cut: false,
  })
})

test.each([
  [0, ''],
  [1, 'a'],
  [3, 'abf'],
  [4, 'abef'],
  [6, 'abcdef'],
  [9, 'abcdef'],
])('of six bytes at most %i', (max, kept) =>
  expect(Buffer.from(truncateBytes(Buffer.from('abcdef'), max)).toString()).toBe(kept),
)
