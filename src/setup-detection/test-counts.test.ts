import { expect, test } from 'vitest'
import { hasNoTests, lacksSomething, mostlyPassed } from './repair/failures.ts'
import { countsIn } from './test-counts.ts'

const of = (text: string) => {
  const counts = countsIn(text)
  return counts === null ? null : [counts.passed, counts.failed]
}
const failed = (output: string) => ({ output, exit_code: 1, timed_out: false })

test.each([
  ['pytest', '==== 2 failed, 10 passed, 1 warning, 1 error in 3.21s ====', [10, 3]],
  ['pytest, quiet', '12 passed, 3 skipped in 0.42s', [12, 0]],
  ['pytest without tests', '===== no tests ran in 0.01s =====', [0, 0]],
  ['unittest', 'Ran 12 tests in 0.012s\n\nFAILED (failures=1, errors=2, skipped=1)', [9, 3]],
  ['unittest without tests', 'Ran 0 tests in 0.000s\n\nOK', [0, 0]],
  ['Node', '# tests 5\n# suites 1\n# pass 4\n# fail 1\n# cancelled 0', [4, 1]],
  ['Mocha', '\n  10 passing (12ms)\n  2 pending\n  1 failing\n', [10, 1]],
  ['Jest', 'Test Suites: 1 failed, 2 total\nTests:       1 failed, 2 skipped, 3 passed, 6 total', [3, 1]],
  ['Vitest', ' Test Files  1 failed | 2 passed (3)\n      Tests  2 failed | 10 passed (12)', [10, 2]],
  [
    'cargo',
    'test result: ok. 3 passed; 0 failed; 0 ignored\ntest result: FAILED. 1 passed; 2 failed; 0 ignored',
    [4, 2],
  ],
  ['go', 'ok  \ta.org/x\t0.01s\n?   \ta.org/y\t[no test files]\nFAIL\ta.org/z [build failed]\nFAIL', [1, 1]],
  [
    'prove',
    't/a.t  (Wstat: 512 (exited 2) Tests: 0 Failed: 0)\nt/b.t (Wstat: 0 Tests: 3 Failed: 0)\nFiles=3, Tests=4,  5 secs\nResult: FAIL',
    [2, 1],
  ],
  ['prove, all of it', 'Files=3, Tests=4,  5 secs\nResult: PASS', [3, 0]],
  ['ctest', '75% tests passed, 1 tests failed out of 4', [3, 1]],
  [
    'Meson',
    'Ok:                 5   \nExpected Fail:      0   \nFail:               1   \nUnexpected Pass:    0',
    [5, 1],
  ],
  ['automake', '# TOTAL: 10\n# PASS:  8\n# SKIP:  1\n# XFAIL: 0\n# FAIL:  1\n# XPASS: 0', [9, 1]],
  ['PHPUnit', 'Tests: 5, Assertions: 7, Errors: 1, Failures: 1.', [3, 2]],
  ['RSpec', '10 examples, 1 failure', [9, 1]],
  ['minitest', '10 runs, 20 assertions, 1 failures, 2 errors, 0 skips', [7, 3]],
  ['Surefire', '[ERROR] Tests run: 10, Failures: 1, Errors: 2, Skipped: 1', [7, 3]],
  ['Gradle', '7 tests completed, 2 failed', [5, 2]],
])('%s reports how many of its tests passed', (_runner, text, counts) => {
  expect(of(`before\n${text}\nafter\n`)).toEqual(counts)
})

test('text that no runner has printed is not counted', () => {
  expect(of('all 7 tests were nice\nok\n')).toBeNull()
  expect(of(`${' '.repeat(60_000)}x\n${'1 a, '.repeat(20_000)}`)).toBeNull()
})

test('runs without tests are distinguished from runs that passed', () => {
  expect(hasNoTests(failed('?   \ta.org/x\t[no test files]\n'))).toBe(true)
  expect(hasNoTests(failed('?   \ta.org/x\t[no test files]\nok  \ta.org/y\t0.1s\n'))).toBe(false)
  for (const text of ['No tests executed!\n', 'No tests defined.\n', 'No tests were found!!!\n'])
    expect(hasNoTests(failed(text))).toBe(true)
  expect(hasNoTests(failed('it did something\n'))).toBe(false)
})

test('where most tests pass, the setup lacks nothing', () => {
  const lacking = "ModuleNotFoundError: No module named 'a'\n"
  expect(lacksSomething(failed(`${lacking}=== 1 failed, 7 passed in 0.1s ===`))).toBe(false)
  expect(lacksSomething(failed(`${lacking}=== 7 failed, 1 passed in 0.1s ===`))).toBe(true)
  expect(mostlyPassed({ ...failed('7 passed in 0.1s'), timed_out: true })).toBeNull()
})
