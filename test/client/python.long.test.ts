import { test } from 'vitest'
import { pythonTests } from './python-tests.ts'

const runTests = pythonTests()

test('the tests of the Python client pass: faults', () => runTests('test_faults'), 120_000)

test('published code for the Codegen SDK works with the module codegen', () => runTests('test_published_code'), 120_000)
