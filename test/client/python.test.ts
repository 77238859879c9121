import { test } from 'vitest'
import { pythonTests } from './python-tests.ts'

const runTests = pythonTests()

test.each(['runs', 'follow', 'webhooks', 'readme'])(
  'the tests of the Python client pass: %s',
  name => runTests(`test_${name}`),
  120_000,
)
