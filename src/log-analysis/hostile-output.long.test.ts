import { Script } from 'node:vm'
import { expect, test } from 'vitest'
import { linesOf, subjectOf } from './commands.ts'
import { failingTests } from './failing-tests.ts'
import { onlyChecksExistence } from './harmless-exits.ts'
import { matchSignatures } from './match-signatures.ts'

/** The length of an output that is analyzed. */
const CHARS = 192 * 1024
/** What compares each with each takes minutes for them. */
const MANY = 200_000

const named = [
  '--- FAIL: a#',
  '[ERROR] a#.b:1 x',
  '[ERROR] a.a#.c Time elapsed: 1 s <<< ERROR!',
  'not ok # - a',
  'FAILED a.py::b#',
  '● a#',
]
const others = [
  'FAIL: a# (b)',
  '  #) a:',
  '✖ a#',
  'rspec ./a_spec.rb:# # a',
  'test a# ... FAILED',
  '#) A::b',
  'a#.t  (Wstat: 1)',
]
const pieces = [
  ' ',
  'a',
  'a ',
  '/',
  '.',
  ':',
  '-',
  '=',
  '"',
  "'",
  '(',
  '[',
  'error: ',
  'not found: ',
  'npm error ',
  'Caused by: ',
  'FAIL ',
]
const units = pieces.flatMap(a => pieces.map(b => (a === b ? a : a + b)))

// A pattern that cannot bear its text takes minutes or hours, and no timeout of a test ends what is
// synchronous.
function inTime<Result>(work: () => Result): Result {
  Object.assign(globalThis, { hostile_work: work })
  return new Script('hostile_work()').runInThisContext({ timeout: 30_000 })
}

test.each([...named, ...others])('tests that failed are not compared each with each: %s', line => {
  const lines = Array.from({ length: MANY }, (_, i) => line.replace('#', String(i)))
  expect(inTime(() => failingTests(lines)?.tests.length ?? 0)).toBeLessThanOrEqual(MANY)
})

test('a test of Go that holds others has failed for them', () => {
  const lines = [
    '--- FAIL: A (0.1s)',
    '    --- FAIL: A/b (0.1s)',
    '        --- FAIL: A/b/c (0.1s)',
    '--- FAIL: AB (0.1s)',
  ]
  expect(failingTests(lines)?.tests.map(({ name }) => name)).toEqual(['A/b/c', 'AB'])
})

test.each(units)('no output keeps the signatures and runners busy: %j again and again', unit => {
  for (const begin of ['', 'error ']) {
    const long = begin + unit.repeat(CHARS / unit.length)
    const lines = Array.from(
      { length: 40 },
      (_, i) => `${begin}${unit.repeat(1_000)}`.slice(0, 990) + i,
    ).join('\n')
    for (const text of [long, lines]) {
      expect(() => inTime(() => failingTests(linesOf(text)))).not.toThrow()
      expect(() => inTime(() => matchSignatures(linesOf(text)))).not.toThrow()
    }
    expect(() =>
      inTime(() => [subjectOf(long.slice(0, 2_000)), onlyChecksExistence(long.slice(0, 2_000))]),
    ).not.toThrow()
  }
})
