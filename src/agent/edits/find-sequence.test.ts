import { expect, test } from 'vitest'
import { findSequence, occurrences } from './find-sequence.ts'

test.each([
  ['abcabd', 'abd', [3]],
  ['aaaa', 'aa', [0, 2]],
  ['aabaabaaab', 'aabaaa', [3]],
  ['abababab', 'abab', [0, 4]],
  ['abc', 'x', []],
  ['ab', 'abc', []],
  ['grün ✓✓', '✓', [5, 6]],
])('in %s, %s occurs at %j', (text, wanted, positions) => {
  expect([...occurrences(text, wanted)]).toEqual(positions)
})

test('lines are found from a position on, and nothing occurs nowhere', () => {
  expect(findSequence(['a', 'b', 'a', 'b'], ['a', 'b'], 1)).toBe(2)
  expect(findSequence(['a'], ['a'], 1)).toBeNull()
  expect(findSequence('a', '')).toBeNull()
})

test('each item is read a bounded number of times, however long the parts are that almost match', () => {
  let reads = 0
  const counted = new Proxy(
    Array.from({ length: 20_000 }, () => 'e'),
    {
      get(items, key) {
        if (key !== 'length') reads++
        return Reflect.get(items, key)
      },
    },
  )
  expect(findSequence(counted, [...'e'.repeat(2_000), 'b', ...'e'.repeat(2_000)])).toBeNull()
  expect(reads).toBeLessThan(5 * 20_000)
})
