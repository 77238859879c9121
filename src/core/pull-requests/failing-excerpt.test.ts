import { expect, test } from 'vitest'
import { failingExcerpt } from './failing-excerpt.ts'

test('a short text is kept whole, without control sequences of a terminal', () => {
  expect(failingExcerpt('\u001b[31mnot ok 1\u001b[0m - a\r\n  1 !== 2\n\n', 100)).toBe(
    'not ok 1 - a\n  1 !== 2',
  )
  expect(failingExcerpt('10 %\r50 %\rdone', 100)).toBe('done')
  expect(failingExcerpt('', 100)).toBe('')
})

test('a long text is reduced to its end, which reports the failure', () => {
  const text = `${'fine\n'.repeat(1_000)}AssertionError: 1 !== 2\n`
  const found = failingExcerpt(text, 200)
  expect(found.length).toBe(200)
  expect(found).toMatch(/fine\nAssertionError: 1 !== 2$/)
})

test('a failure that is reported long before the end precedes it', () => {
  const text = `${'ok\n'.repeat(1_000)}before\nAssertionError: 1 !== 2\n${'at x\n'.repeat(1_000)}2 tests, 1 gone\n`
  const found = failingExcerpt(text, 300)
  expect(found.length).toBeLessThanOrEqual(300)
  expect(found).toMatch(/^ok\nbefore\nAssertionError: 1 !== 2\n(.|\n)*\n…\n(.|\n)*2 tests, 1 gone$/)
})

test('an unpaired surrogate is removed', () => {
  for (let most = 10; most < 20; most++)
    expect(failingExcerpt('😀'.repeat(100), most).isWellFormed()).toBe(true)
})
