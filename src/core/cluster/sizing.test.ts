import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeSize, sizeOf } from './sizing.ts'

const page = readFileSync(new URL('../../../docs/operations/sizing.md', import.meta.url), 'utf8')
/** The three values of a row of the table "Runs at the same time". */
const row = (name: string) => {
  const [, cells = ''] = new RegExp(`^\\| ${name} \\|(.*)\\|$`, 'm').exec(page) ?? []
  return cells.split('|').map(cell => {
    const [, digits = '', unit = ''] = /([\d,.]+) ?(TB)?/.exec(cell) ?? []
    return Number(digits.replaceAll(',', '')) * (unit === 'TB' ? 1_000 : 1)
  })
}

test.each([
  ['steps and entries per second', 'steps_per_second'],
  ['commits per second', 'commits_per_second'],
  ['cores of the database', 'database_cores'],
  ['write-ahead log', 'wal_mb_per_second'],
  ['growth on disk, around the clock', 'trace_gb_per_day'],
  ['worker processes, 64 runs each', 'workers'],
  ['memory of sandboxes, 1 GB each', 'sandbox_memory_gb'],
] as const)('the calculator agrees with the measured table: %s', (name, key) => {
  const documented = row(name)
  expect(documented).toHaveLength(3)
  for (const [index, concurrent] of [1_000, 10_000, 100_000].entries()) {
    // Around the clock.
    const runs_per_day = (concurrent * 24 * 60) / 10
    const computed = sizeOf({
      runs_per_day,
      concurrent,
      run_minutes: 10,
      step_seconds: 5,
      retention_days: null,
    })[key]
    const ratio = computed / (documented[index] ?? Number.NaN)
    expect({ concurrent, close: ratio > 0.9 && ratio < 1.1, computed }).toMatchObject({ close: true })
  }
})

test('the description names what to set, and what exceeds the measurements or contradicts itself', () => {
  expect(
    describeSize({
      runs_per_day: 2_000,
      concurrent: 100,
      run_minutes: 10,
      step_seconds: 5,
      retention_days: 90,
    }),
  ).toEqual([
    'database: the embedded one, or one of your own, 0.055 cores busy',
    'database: 140 commits and 0.14 MB of write-ahead log per second',
    'database: max_connections 88 and a reserve',
    'disk: 0.75 GB per day, 67 GB with AGENTRUN_RETENTION_DAYS=90',
    'processes: 2 workers with AGENTRUN_WORKER_CONCURRENCY=50, 2 that serve',
    'sandboxes: 100 GB of memory and 50 cores, with 1 GB and half a core each',
  ])
  const large = describeSize({
    runs_per_day: 3_000_000,
    concurrent: 20_000,
    run_minutes: 10,
    step_seconds: 5,
    retention_days: null,
  })
  expect(large).toContain('warning: more than one database was measured for: 2 clusters')
  expect(large).toContain(
    'warning: 3000000 runs per day of 10 minutes are 21,000 at the same time on average: runs will wait',
  )
  expect(large[0]).toContain('one of your own (DATABASE_URL)')
})
