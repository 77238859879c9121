import { spawnSync } from 'node:child_process'

/**
 * The faults at length: thousands of kills instead of dozens, long outages, huge data. Minutes of killing by TEST_LONG_MINUTES (default 10),
 * another order of things by TEST_SEED. What the last one saw is in docs/chaos.json.
 */
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', 'test/chaos', 'test/faults', ...process.argv.slice(2)],
  {
    env: { ...process.env, TEST_LONG: '1' },
    stdio: 'inherit',
  },
)
process.exitCode = status ?? 1
