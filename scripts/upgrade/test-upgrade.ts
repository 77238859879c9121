import { spawnSync } from 'node:child_process'

/**
 * Upgrades from a commit to the working tree while runs are in progress, and rolls back: `node
 * scripts/upgrade/test-upgrade.ts [COMMIT]`. By default from the last commit before the newest migration.
 * `npm run test:long` runs the same test.
 */
const [commit, ...more] = process.argv.slice(2)
if (more.length > 0) throw new Error('usage: node scripts/upgrade/test-upgrade.ts [COMMIT]')
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', 'test/runs/upgrade/upgrade.long.test.ts'],
  {
    env: { ...process.env, ...(commit !== undefined && { TEST_UPGRADE_FROM: commit }) },
    stdio: 'inherit',
  },
)
process.exitCode = status ?? 1
