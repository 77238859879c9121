import { parseArgs } from 'node:util'
import { searchRunLogs } from '../../src/service/runs/logs/search-logs.ts'
import { sumUsage } from '../../src/store/access/usage-days.ts'
import { Database } from '../../src/store/database.ts'
import { heartbeat } from '../../src/store/leases/leases.ts'
import type { RunHead } from '../../src/store/runs/run-heads.ts'
import { type FilledDatabase, fillDatabase } from '../../test/scale/fill-database.ts'
import { lists, routine, type Work } from '../../test/scale/statements.ts'
import { searched } from '../../test/scale/words.ts'
import { quantile } from '../rate.ts'
import { startDatabase } from '../start-database.ts'

const TARGET_MS = 100
const TIMES = 40
const LONG_RUN = 100_000
const HOUR_MS = 3_600_000

/** One measured operation: `rows` are undone afterwards. */
type Metric = { name: string; value: number; unit: 'ms'; target: number | null; floor: number | null }

/**
 * `npm run bench -- scale [--runs N --entries N --json]`: the 95th percentile of lists, searches and the
 * routine of every process in a generated database, by default with 1,000,000 runs and 20,000,000 entries
 * (about 20 GB in the temporary folder, removed at the end).
 */
export async function scale(args: string[]): Promise<string> {
  const { values } = parseArgs({
    args,
    options: { runs: { type: 'string' }, entries: { type: 'string' }, json: { type: 'boolean' } },
  })
  const [runs, entries] = [Number(values.runs ?? 1_000_000), Number(values.entries ?? 20_000_000)]
  await using database = await startDatabase()
  await using loader = new Database(database.url, {
    max: 1,
    on_error: () => {},
    statement_ms: HOUR_MS,
    idle_ms: HOUR_MS,
  })
  const filled = await fillDatabase(
    loader,
    { runs, entries, long_run: Math.min(LONG_RUN, Math.floor(entries / 2)) },
    line => process.stderr.write(`scale: ${line}\n`),
  )
  const metrics = await measureScale(database.url, filled)
  if (values.json) return `${JSON.stringify(metrics)}\n`
  const line = ({ name, value, target }: Metric) =>
    `  ${name.padEnd(44)} p95 ${value.toFixed(2).padStart(9)} ms${target === null ? '' : `  target ≤ ${target} ms: ${value <= target ? 'met' : 'MISSED'}`}`
  return [`scale: ${runs} runs, ${entries} entries`, ...metrics.map(line), ''].join('\n')
}

/** Measures a filled database with connections as a process of the service has them. */
export async function measureScale(url: string, filled: FilledDatabase): Promise<Metric[]> {
  await using db = new Database(url, { max: 2, on_error: () => {}, statement_ms: 60_000 })
  const floor = await p95(db, tx => tx.query({ text: 'select 1' }))
  const metrics: Metric[] = [
    { name: 'floor: select 1 in a transaction', value: floor, unit: 'ms', target: null, floor: null },
  ]
  for (const [name, work] of Object.entries({ ...lists(filled), ...others(filled), ...routine(filled) }))
    metrics.push({ name, value: await p95(db, work), unit: 'ms', target: TARGET_MS, floor })
  return metrics
}

function others({ organization_id, long_run_id }: FilledDatabase): Record<string, Work> {
  const days = {
    from: new Date(Date.now() - 90 * 24 * HOUR_MS).toISOString().slice(0, 10),
    to: new Date().toISOString().slice(0, 10),
  }
  const head = { id: long_run_id, organization_id, total_logs: LONG_RUN } as RunHead
  const search =
    (q: string): Work =>
    db =>
      searchRunLogs({ db, organization_id, run_head: head }, long_run_id, { q })
  return {
    'usage of 90 days, per day': db => sumUsage(db, organization_id, days, 'day'),
    'trace search, a common word': search(searched.common),
    'trace search, a rare word': search(searched.rare),
    'trace search, a word of none': search(searched.none),
    'heartbeat of a run that lost its lease': db =>
      heartbeat(db, { organization_id, run_id: long_run_id, epoch: 99, worked_ms: 0, progressed: true }, 5),
  }
}

/**
 * Each sample is one transaction that is undone: claims and sweeps find the same rows each time. The first is
 * not counted.
 */
async function p95(db: Database, work: Work): Promise<number> {
  const times: number[] = []
  const undone = new Error('undone')
  for (let n = 0; n <= TIMES; n++)
    await db
      .transaction(async tx => {
        const started = performance.now()
        await work({ query: query => tx.query(query), transaction: inner => inner(tx) })
        times.push(performance.now() - started)
        throw undone
      })
      .catch(error => {
        if (error !== undone) throw error
      })
  return quantile(times.slice(1), 0.95)
}
