import { expect, test } from 'vitest'
import { createRepetitionGuard } from './repetition.ts'

/** The verdicts of the guard for a sequence of calls; the same letter has the same result. */
function judged(sequence: string): string[] {
  const guard = createRepetitionGuard()
  return [...sequence].map(
    letter => guard({ id: 'x', name: 'shell', input: { command: letter } }, { output: { letter } }).kind,
  )
}
const firstAt = (sequence: string, kind: string) => judged(sequence).indexOf(kind) + 1

test.each([
  ['one call', 'A', 3, 8],
  ['two calls in turn', 'AB', 6, 12],
  ['three calls', 'ABC', 9, 15],
  ['four calls', 'ABCD', 12, 20],
  ['a cycle with the same call twice', 'AAB', 9, 15],
])('%s: a warning, then the end', (_name, cycle, warned, ended) => {
  const sequence = cycle.repeat(20)
  expect([firstAt(sequence, 'warn'), firstAt(sequence, 'end')]).toEqual([warned, ended])
})

test('a cycle is found after other calls, and another call ends it', () => {
  expect(firstAt(`XYZ${'AB'.repeat(10)}`, 'end')).toBe(3 + 12)
  expect(judged(`${'AB'.repeat(5)}XABA`)).not.toContain('end')
})

test('the same call with another result is not a repetition', () => {
  const guard = createRepetitionGuard()
  const call = { id: 'x', name: 'get_run', input: {} }
  for (let n = 0; n < 30; n++) expect(guard(call, { output: { n } }).kind).toBe('none')
})

test('five calls in turn are work, not a cycle', () => {
  expect(new Set(judged('ABCDE'.repeat(10)))).toEqual(new Set(['none']))
})
