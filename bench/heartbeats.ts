import { heartbeat } from '../src/store/leases/leases.ts'
import { addOrganization, fillQueue } from '../test/runs/queue/fill-queue.ts'
import { median, type Rate, rateLine, rateOf } from './rate.ts'
import { startDatabase, walPosition } from './start-database.ts'

const RUNS = 1_000
const BEATERS = 8
const ROUNDS = 3
const SECONDS = 3

/**
 * Leases renewed in a second, as their owners do once a second each: with the time worked, and without it.
 */
export async function heartbeats(): Promise<string> {
  await using database = await startDatabase()
  const db = database.open(BEATERS)
  await db.query({ text: 'create table bench_baseline (id int primary key, n int not null default 0)' })
  await db.query({ text: 'insert into bench_baseline select n from generate_series(0, 99) n' })
  const owner = await addOrganization(db, 'Owners')
  await fillQueue(db, owner, RUNS)
  const { rows: runs } = await db.query<{ id: number }>({
    text: `update runs
      set status = 'running', phase = 'agent', runnable_at = null, epoch = 1, owner = 'a worker',
        lease_until = now() + interval '1 hour'
      returning id`,
  })
  await db.query({ text: 'vacuum analyze runs' })
  let n = 0
  const beat = async (worked_ms: number) => {
    const claim = { organization_id: owner.organization_id, run_id: runs[n++ % RUNS]?.id ?? 0, epoch: 1 }
    if (!(await heartbeat(db, { ...claim, worked_ms, progressed: true }, 3_600)))
      throw new Error('the lease was not renewed')
  }
  const update = (id: number) =>
    db.query({
      name: 'bench_update',
      text: 'update bench_baseline set n = n + 1 where id = $1',
      values: [id],
    })

  const results: Record<string, Rate[]> = {
    baseline: [],
    'a beat with the time worked': [],
    'a beat without it': [],
  }
  const written: Record<string, number[]> = {}
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, rates] of Object.entries(results)) {
      const before = await walPosition(db)
      const work = (worker: number) =>
        name === 'baseline' ? update(worker) : beat(name === 'a beat without it' ? 0 : 1_000)
      const rate = await rateOf(BEATERS, SECONDS, work, database.pid)
      rates.push(rate)
      written[name] = [...(written[name] ?? []), ((await walPosition(db)) - before) / rate.times.length]
    }
  const { baseline = [], ...beats } = results
  const { rows: hot } = await db.query<{ hot: number }>({
    text: `select round(100.0 * n_tup_hot_upd / nullif(n_tup_upd, 0))::int as hot
      from pg_stat_user_tables
      where relname = 'runs'`,
  })
  return [
    `heartbeats: ${RUNS} runs, ${BEATERS} connections; baseline is one update of one row by its key, fsynced`,
    ...Object.entries(beats).map(([name, rates]) => rateLine(name, rates, baseline, 'beats')),
    ...Object.entries(written).map(
      ([name, bytes]) =>
        `  ${name.padEnd(34)} ${median(bytes).toFixed(0).padStart(8)} bytes of write-ahead log`,
    ),
    `  ${hot[0]?.hot}% of the updates of runs stayed within their page`,
    '',
  ].join('\n')
}
