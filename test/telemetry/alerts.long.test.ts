import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clone } from '../source-tree.ts'

const missing = spawnSync('promtool', ['--version']).error === undefined ? null : 'promtool is not installed'

test.skipIf(missing !== null)(
  'Prometheus reads the alert rules, and they fire and stay silent as their own tests state',
  () => {
    const promtool = (...args: string[]) =>
      execFileSync('promtool', args, {
        cwd: join(clone, 'deploy/monitoring'),
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    expect(promtool('check', 'rules', 'alerts.yaml')).toContain('SUCCESS: 13 rules found')
    expect(promtool('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS')
  },
)
