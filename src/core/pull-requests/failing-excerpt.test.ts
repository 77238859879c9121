import { expect, test } from 'vitest'
import { failingExcerpt } from './failing-excerpt.ts'

test('what is short is whole, without what is said to a terminal', () => {
  expect(failingExcerpt('\u001b[31mnot ok 1\u001b[0m - a\r\n  1 !== 2\n\n', 100)).toBe('not ok 1 - a\n  1 !== 2')
  expect(failingExcerpt('10 %\r50 %\rdone', 100)).toBe('done')
  expect(failingExcerpt('', 100)).toBe('')
})

test('what is long is its end, where the failure is told', () => {
  const text = `${'fine\n'.repeat(1_000)}AssertionError: 1 !== 2\n`
  const found = failingExcerpt(text, 200)
  expect(found.length).toBe(200)
  expect(found).toMatch(/fine\nAssertionError: 1 !== 2$/)
})

test('a failure that is told long before the end stands before it', () => {
  const text = `${'ok\n'.repeat(1_000)}before\nAssertionError: 1 !== 2\n${'at x\n'.repeat(1_000)}2 tests, 1 gone\n`
  const found = failingExcerpt(text, 300)
  expect(found.length).toBeLessThanOrEqual(300)
  expect(found).toMatch(/^ok\nbefore\nAssertionError: 1 !== 2\n(.|\n)*\n…\n(.|\n)*2 tests, 1 gone$/)
})

test('half a pair of surrogates is no text', () => {
  for (let most = 10; most < 20; most++) expect(failingExcerpt('😀'.repeat(100), most).isWellFormed()).toBe(true)
})
