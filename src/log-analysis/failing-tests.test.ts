import { expect, test } from 'vitest'
import { linesOf } from './commands.ts'
import { failingTests } from './failing-tests.ts'

const outputs: [runner: string, output: string, tests: [name: string, location: string | null][]][] = [
  [
    'jest',
    `FAIL src/sum.test.js
  sums
    ✓ adds nothing (1 ms)
    ✕ adds (3 ms)

  ● sums › adds

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: 2

      at toBe (node_modules/expect/build/index.js:1:2)
      at Object.<anonymous> (src/sum.test.js:5:17)

Tests:       1 failed, 1 passed, 2 total`,
    [['sums › adds', 'src/sum.test.js:5:17']],
  ],
  [
    'jest suite',
    " FAIL  src/a.test.js\n  ● Test suite failed to run\n\n    Cannot find module './b' from 'src/a.test.js'",
    [['src/a.test.js', null]],
  ],
  [
    'vitest',
    ` FAIL  test/a.test.ts > sums > adds
AssertionError: expected 2 to be 3 // Object.is equality

 ❯ test/a.test.ts:12:17
     10|   test('adds', () => {`,
    [['test/a.test.ts > sums > adds', 'test/a.test.ts:12:17']],
  ],
  [
    'mocha',
    `  1 passing (5ms)
  2 failing

  1) sums
       adds:
     AssertionError [ERR_ASSERTION]: 2 == 3
      at Context.<anonymous> (test/sum.js:7:14)
      at process.processImmediate (node:internal/timers:478:21)

  2) breaks:
     Error: no
      at Context.<anonymous> (test/sum.js:12:9)`,
    [
      ['sums adds', 'test/sum.js:7:14'],
      ['breaks', 'test/sum.js:12:9'],
    ],
  ],
  [
    'TAP',
    `TAP version 13
ok 1 - fine
not ok 2 - adds
  ---
  location: '/workspace/a.test.mjs:2:1'
  failureType: 'testCodeFailure'
  ...
not ok 3 - later # TODO
    not ok 1 - inner
      ---
      location: '/workspace/a.test.mjs:3:5'
      ...
not ok 4 - outer
  ---
  failureType: 'subtestsFailed'
  ...`,
    [
      ['adds', '/workspace/a.test.mjs:2:1'],
      ['inner', '/workspace/a.test.mjs:3:5'],
    ],
  ],
  [
    'node:test',
    '✖ adds (1.2ms)\nℹ fail 1\n\n✖ failing tests:\n\ntest at a.test.mjs:2:1\n✖ adds (1.238ms)\n  AssertionError',
    [['adds', 'a.test.mjs:2:1']],
  ],
  [
    'pytest',
    `=================================== FAILURES ===================================
____________________________ TestSum.test_add[1-2] _____________________________

    def test_add():
>       assert add(1, 1) == 3
E       assert 2 == 3

tests/test_sum.py:8: AssertionError
=========================== short test summary info ============================
FAILED tests/test_sum.py::TestSum::test_add[1-2] - assert 2 == 3
ERROR tests/test_db.py - RuntimeError: no database
1 failed, 1 error in 0.03s`,
    [
      ['tests/test_sum.py::TestSum::test_add[1-2]', 'tests/test_sum.py:8'],
      ['tests/test_db.py', null],
    ],
  ],
  [
    'unittest',
    `F
======================================================================
FAIL: test_add (tests.test_sum.SumTest.test_add)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/workspace/tests/test_sum.py", line 7, in test_add
    self.assertEqual(add(1, 1), 3)
AssertionError: 2 != 3

----------------------------------------------------------------------
Ran 1 test in 0.000s`,
    [['tests.test_sum.SumTest.test_add', '/workspace/tests/test_sum.py:7']],
  ],
  [
    'go test',
    '--- FAIL: TestSum (0.00s)\n    --- FAIL: TestSum/one (0.00s)\n        sum_test.go:9: got 2, want 3\nFAIL\nFAIL\texample.com/sum\t0.002s',
    [['TestSum/one', 'sum_test.go:9']],
  ],
  [
    'go test',
    '=== RUN   TestSum\n    sum_test.go:9: got 2\n--- FAIL: TestSum (0.00s)\nFAIL',
    [['TestSum', 'sum_test.go:9']],
  ],
  [
    'cargo test',
    "test tests::adds ... FAILED\n\nfailures:\n\n---- tests::adds stdout ----\nthread 'tests::adds' (77) panicked at src/lib.rs:10:9:\nassertion `left == right` failed\n\ntest result: FAILED.",
    [['tests::adds', 'src/lib.rs:10:9']],
  ],
  [
    'surefire',
    '[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in com.x.SumTest\n[ERROR] com.x.SumTest.adds -- Time elapsed: 0.01 s <<< FAILURE!\n[ERROR] Failures: \n[ERROR]   SumTest.adds:12 expected: <3> but was: <2>',
    [['com.x.SumTest.adds', 'SumTest.adds:12']],
  ],
  [
    'gradle',
    '> Task :test FAILED\n\nSumTest > adds() FAILED\n    org.opentest4j.AssertionFailedError: expected: <3> but was: <2>\n        at SumTest.adds(SumTest.java:12)',
    [['SumTest > adds()', null]],
  ],
  [
    'gradle',
    'SumTest > adds() FAILED\n    java.lang.AssertionError at SumTest.java:12',
    [['SumTest > adds()', 'SumTest.java:12']],
  ],
  [
    'RSpec',
    '1 example, 1 failure\n\nFailed examples:\n\nrspec ./spec/sum_spec.rb:4 # Sum adds',
    [['Sum adds', 'spec/sum_spec.rb:4']],
  ],
  [
    'minitest',
    '  1) Failure:\nSumTest#test_add [test/sum_test.rb:7]:\nExpected: 3\n  Actual: 2',
    [['SumTest#test_add', 'test/sum_test.rb:7']],
  ],
  [
    'PHPUnit',
    'There was 1 failure:\n\n1) Tests\\SumTest::testAdd\nFailed asserting that 2 matches expected 3.\n\n/workspace/tests/SumTest.php:12\n\nFAILURES!',
    [['Tests\\SumTest::testAdd', '/workspace/tests/SumTest.php:12']],
  ],
  [
    'ctest',
    '0% tests passed, 1 tests failed out of 1\n\nThe following tests FAILED:\n\t  1 - sum (Failed)\nErrors while running CTest',
    [['sum', null]],
  ],
  [
    'GoogleTest',
    '[ RUN      ] Sum.Adds\nsum_test.cc:5: Failure\nExpected equality\n[  FAILED  ] Sum.Adds (0 ms)\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Sum.Adds',
    [['Sum.Adds', 'sum_test.cc:5']],
  ],
  [
    'playwright',
    '  1) [chromium] › tests/a.spec.ts:12:5 › shows the page ─────────',
    [['shows the page', 'tests/a.spec.ts:12:5']],
  ],
]

for (const [runner, output, tests] of outputs)
  test(`${runner}: ${tests.map(([name]) => name).join(', ')}`, () => {
    expect(failingTests(linesOf(output))).toEqual({
      runner,
      tests: tests.map(([name, location]) => ({ name, location })),
    })
    for (const [name, location] of tests) {
      expect(output).toContain(name.split(/::|[. ]/).at(-1))
      for (const part of location?.split(':') ?? []) expect(output).toContain(part)
    }
  })

test('passing tests, and lines that are not tests, name none', () => {
  for (const output of [
    '',
    'ok 1 - fine\nok 2 - fine',
    'FAIL: the build\nFAILED',
    'PASS src/a.test.js\nTests:       2 passed',
    '  1) first\n  2) second',
  ])
    expect(failingTests(linesOf(output))).toBeNull()
})
