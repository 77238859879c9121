import { claimRun } from '../src/store/claims.ts'
import type { Database } from '../src/store/database.ts'
import { addOrganization, fillQueue } from '../test/runs/fill-queue.ts'
import { quantile, type Rate, rateLine, rateOf } from './rate.ts'
import { type BenchDatabase, startDatabase } from './start-database.ts'

const CLAIMERS = [1, 4, 20]
const LENGTHS = [100, 10_000, 100_000]
const ROUNDS = 3
const SECONDS = 2
const lease = { owner: 'a worker', seconds: 600, turn_seconds: 600 }

/** Claims out of a queue of two organizations, by several workers at once and out of queues of several lengths; and whom a full queue delays. */
export async function claims(): Promise<string> {
  await using database = await startDatabase()
  const db = database.open(1)
  await db.query({ text: 'create table bench_baseline (id int primary key, n int not null default 0)' })
  await db.query({ text: 'insert into bench_baseline select n from generate_series(0, 99) n' })
  const large = await addOrganization(db, 'Large')
  const small = await addOrganization(db, 'Small')

  const lines = ['claims: baseline is one update of one row by its key, fsynced, by as many connections']
  for (const claimers of CLAIMERS) {
    const figures: { claim: Rate[]; baseline: Rate[] } = { claim: [], baseline: [] }
    const workers = openAll(database, claimers)
    for (let round = 0; round < ROUNDS; round++) {
      await emptyQueue(db)
      await fillQueue(db, large, 10_000)
      await fillQueue(db, small, 100)
      figures.baseline.push(await rateOf(claimers, SECONDS, n => updateOne(workers[n], n)))
      figures.claim.push(await rateOf(claimers, SECONDS, n => claimOne(workers[n])))
    }
    lines.push(rateLine(`${claimers} claimers, 10,100 queued`, figures.claim, figures.baseline, 'claims'))
  }
  const medians: number[] = []
  for (const length of LENGTHS) {
    await emptyQueue(db)
    await fillQueue(db, large, length)
    const { times } = await rateOf(1, SECONDS, () => claimOne(db))
    // The first hundred: of the shortest queue there are no more.
    medians.push(quantile(times.slice(0, 100), 0.5))
    lines.push(
      `  queue of ${String(length).padStart(7)}: claim median ${medians.at(-1)?.toFixed(2)} ms  p99 ${quantile(times.slice(0, 100), 0.99).toFixed(2)} ms`,
    )
  }
  const growth = (medians.at(-1) ?? Number.NaN) / (medians[0] ?? Number.NaN)
  lines.push(`  target: 1,000 × the queue ≤ 2 × the claim: ${growth <= 2 ? 'met' : 'MISSED'}; it is ${growth.toFixed(2)} ×`)

  await emptyQueue(db)
  await fillQueue(db, large, 10_000)
  await fillQueue(db, small, 1)
  let before = 0
  while ((await claimRun(db, lease))?.organization_id === large.organization_id) before += 1
  lines.push(
    `  target: an organization's first run behind 10,000 of another's waits for ≤ 1 claim: ${before <= 1 ? 'met' : 'MISSED'}; it is ${before}`,
    '',
  )
  return lines.join('\n')
}

const openAll = (database: BenchDatabase, count: number) => Array.from({ length: count }, () => database.open(1))

async function claimOne(db: Database | undefined): Promise<boolean> {
  return db !== undefined && (await claimRun(db, lease)) !== undefined
}

async function updateOne(db: Database | undefined, id: number): Promise<void> {
  await db?.query({ name: 'bench_update', text: 'update bench_baseline set n = n + 1 where id = $1', values: [id] })
}

async function emptyQueue(db: Database): Promise<void> {
  await db.query({ text: 'delete from runs' })
  await db.query({ text: 'vacuum analyze runs' })
}
