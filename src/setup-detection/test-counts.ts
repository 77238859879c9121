/** The summary of a test runner. */
export type Counts = { passed: number; failed: number; of: 'tests' | 'packages' | 'test programs' }

type Runner = {
  of?: Counts['of']
  pattern: RegExp
  count(match: RegExpMatchArray, text: string): [all: number, failed: number]
}

const number = (text: string | undefined) => Number(text ?? 0)
/** Sums the numbers before words such as `failed` in a line. */
const numbersOf = (line: string, words: RegExp) =>
  [...line.matchAll(/(\d{1,9}) (\w{1,20})/g)].reduce(
    (sum, [, n, word]) => sum + (words.test(word ?? '') ? number(n) : 0),
    0,
  )
/** The same with the word first: `Failures: 2`, `errors=1`. */
const named = (line: string, words: RegExp) =>
  [...line.matchAll(/([A-Za-z]{1,20})[=:] ?(\d{1,9})/g)].reduce(
    (sum, [, word, n]) => sum + (words.test(word ?? '') ? number(n) : 0),
    0,
  )

const passedAndFailed = (line: string): [number, number] => {
  const failed = numbersOf(line, /^(?:failed|errors?)$/)
  return [numbersOf(line, /^passed$/) + failed, failed]
}

const RUNNERS: readonly Runner[] = [
  // pytest
  {
    pattern: /^(?:=+ )?(\d{1,9} [a-z]{1,20}(?:, \d{1,9} [a-z]{1,20}){0,7}|no tests ran) in [\d.]{1,12}s\b/gm,
    count: ([, line = '']) => passedAndFailed(line),
  },
  {
    // unittest
    pattern: /^Ran (\d{1,9}) tests? in [\d.]{1,12}s\n{1,3}(?:OK|FAILED|NO TESTS RAN)([^\n]{0,120})/gm,
    count: ([, all, line = '']) => [number(all), named(line, /^(?:failures|errors)$/)],
  },
  {
    pattern: /^(?:#|ℹ) tests (\d{1,9})\n(?:[^\n]{0,60}\n){0,3}(?:#|ℹ) fail (\d{1,9})$/gm,
    count: ([, all, failed]) => [number(all), number(failed)],
  },
  {
    // Mocha
    pattern:
      /^ {1,9}(\d{1,9}) passing[^\n]{0,60}(?:\n {1,9}\d{1,9} pending)?(?:\n {1,9}(\d{1,9}) failing)?/gm,
    count: ([, passed, failed]) => [number(passed) + number(failed), number(failed)],
  },
  // Jest and Vitest
  {
    pattern: /^ {0,9}Tests:? {1,9}(\d[^\n]{1,120})$/gm,
    count: ([, line = '']) => passedAndFailed(line.replaceAll('|', ',')),
  },
  { pattern: /^test result: \w+\. ([^\n]{1,120})/gm, count: ([, line = '']) => passedAndFailed(line) },
  {
    of: 'packages',
    pattern: /^(ok|FAIL)\s+[\w./-]{1,200}\s+(?:[\d.]{1,12}s|\(cached\)|\[build failed\])/gm,
    count: ([, word]) => [1, word === 'ok' ? 0 : 1],
  },
  {
    // The failed test programs are listed before it.
    of: 'test programs',
    pattern: /^Files=(\d{1,9}), Tests=\d{1,9}[\s\S]{0,200}?^Result: (\w+)/gm,
    count: ([, all, result], text) => {
      const failed = [...text.matchAll(/ \(Wstat: [1-9]/g)].length
      return [number(all), result === 'FAIL' ? failed || number(all) : 0]
    },
  },
  {
    pattern: /^\d{1,3}% tests passed, (\d{1,9}) tests failed out of (\d{1,9})/gm,
    count: ([, failed, all]) => [number(all), number(failed)],
  },
  {
    // Meson
    pattern: /^Ok: +(\d{1,9}) *\n(?:[\w ]{1,30}: +\d{1,9} *\n){0,2}?Fail: +(\d{1,9})/gm,
    count: ([, passed, failed]) => [number(passed) + number(failed), number(failed)],
  },
  {
    of: 'test programs',
    pattern: /^# TOTAL: +(\d{1,9})\n(?:# \w{1,8}: +\d{1,9}\n){0,3}# FAIL: +(\d{1,9})/gm,
    count: ([, all, failed]) => [number(all), number(failed)],
  },
  // PHPUnit
  { pattern: /^OK \((\d{1,9}) tests?,/gm, count: ([, all]) => [number(all), 0] },
  { pattern: /^(No tests executed!)/gm, count: () => [0, 0] },
  {
    pattern: /^Tests: (\d{1,9}), Assertions: \d{1,9}([^\n]{0,120})/gm,
    count: ([, all, line = '']) => [number(all), named(line, /^(?:Failures|Errors)$/)],
  },
  // RSpec, minitest and test-unit
  {
    pattern: /^(\d{1,9}) (?:examples?|runs?|tests?), ([^\n]{1,120})/gm,
    count: ([, all, line = '']) => [number(all), numbersOf(line, /^(?:failures?|errors?)$/)],
  },
  // Surefire and Gradle
  {
    pattern: /^(?:\[\w+\] )?Tests run: (\d{1,9}), ([^\n]{1,60}?)(?:, Skipped: \d{1,9})?$/gm,
    count: ([, all, line = '']) => [number(all), named(line, /^(?:Failures|Errors)$/)],
  },
  {
    pattern: /^(\d{1,9}) tests? completed, (\d{1,9}) failed/gm,
    count: ([, all, failed]) => [number(all), number(failed)],
  },
]

/** Returns null when no known runner printed a summary. */
export function countsIn(text: string): Counts | null {
  const found = RUNNERS.flatMap(({ of = 'tests', pattern, count }) => {
    const counts = [...text.matchAll(pattern)].map(match => count(match, text))
    if (counts.length === 0) return []
    const [all, failed] = counts.reduce(
      ([all, failed], [more, more_failed]) => [all + more, failed + more_failed],
      [0, 0],
    )
    return [{ passed: Math.max(0, all - failed), failed, of }]
  })
  const total = ({ passed, failed }: Counts) => passed + failed
  return found.sort((a, b) => total(b) - total(a))[0] ?? null
}
