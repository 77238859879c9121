import type { Database } from '../src/store/database.ts'
import { claimRun } from '../src/store/leases/claims.ts'
import { addOrganization, fillQueue } from '../test/runs/queue/fill-queue.ts'
import { quantile, type Rate, rateLine, rateOf } from './rate.ts'
import { type BenchDatabase, startDatabase } from './start-database.ts'

const CLAIMERS = [1, 4, 20]
const LENGTHS = [1_000, 10_000, 100_000]
const ROUNDS = 3
const SECONDS = 2
const lease = { owner: 'a worker', seconds: 600, turn_seconds: 600 }

/**
 * Claims out of a queue of two organizations, by several workers at once and out of queues of several
 * lengths; and whom a full queue delays.
 */
export async function claims(): Promise<string> {
  await using database = await startDatabase()
  const db = database.open(1)
  await db.query({ text: 'create table bench_baseline (id int primary key, n int not null default 0)' })
  await db.query({ text: 'insert into bench_baseline select n from generate_series(0, 99) n' })
  const large = await addOrganization(db, 'Large')
  const small = await addOrganization(db, 'Small')

  const lines = ['claims: baseline is one update of one row by its key, fsynced, by as many connections']
  for (const claimers of CLAIMERS) {
    const results: { claim: Rate[]; baseline: Rate[] } = { claim: [], baseline: [] }
    const workers = openAll(database, claimers)
    for (let round = 0; round < ROUNDS; round++) {
      await emptyQueue(db)
      await fillQueue(db, large, 10_000)
      await fillQueue(db, small, 100)
      results.baseline.push(await rateOf(claimers, SECONDS, n => updateOne(workers[n], n), database.pid))
      results.claim.push(await rateOf(claimers, SECONDS, n => claimOne(workers[n]), database.pid))
    }
    lines.push(rateLine(`${claimers} claimers, 10,100 queued`, results.claim, results.baseline, 'claims'))
  }
  const costs: number[] = []
  for (const length of LENGTHS) {
    await emptyQueue(db)
    await fillQueue(db, large, length)
    // As the server does by itself within a minute.
    await db.query({ text: 'analyze' })
    const worker = database.open(1)
    // As many of each: of the shortest queue there are no more.
    let left = LENGTHS[0] ?? 0
    // Of the one connection: the server itself vacuums after this number of inserts.
    const { times, processor_ms } = await rateOf(
      1,
      60,
      async () => left-- > 0 && claimOne(worker),
      await backendOf(worker),
    )
    costs.push(processor_ms)
    lines.push(
      `  queue of ${String(length).padStart(7)}: claim median ${quantile(times, 0.5).toFixed(2)} ms  p99 ${quantile(times, 0.99).toFixed(2)} ms  ${processor_ms.toFixed(2)} ms of the database's processor`,
    )
  }
  const growth = (costs.at(-1) ?? Number.NaN) / (costs[0] ?? Number.NaN)
  lines.push(
    `  target: 100 × the queue ≤ 1.5 × the processor time of a claim: ${growth <= 1.5 ? 'met' : 'MISSED'}; it is ${growth.toFixed(2)} ×`,
  )

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

const openAll = (database: BenchDatabase, count: number) =>
  Array.from({ length: count }, () => database.open(1))

async function claimOne(db: Database | undefined): Promise<boolean> {
  return db !== undefined && (await claimRun(db, lease)) !== undefined
}

/** The process of the server that a pool of one connection talks to. */
async function backendOf(db: Database): Promise<number> {
  const { rows } = await db.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' })
  return rows[0]?.pid ?? 0
}

async function updateOne(db: Database | undefined, id: number): Promise<void> {
  await db?.query({
    name: 'bench_update',
    text: 'update bench_baseline set n = n + 1 where id = $1',
    values: [id],
  })
}

async function emptyQueue(db: Database): Promise<void> {
  await db.query({ text: 'delete from runs' })
  await db.query({ text: 'vacuum analyze runs' })
}
