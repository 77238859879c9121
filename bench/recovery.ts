import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../src/store/database.ts'
import { startFakeOpenAI } from '../test/model/fake-openai.ts'
import { makeRepository } from './make-repository.ts'
import { quantile } from './rate.ts'
import { startDatabase } from './start-database.ts'
import { type Node, nodeSettings, startNode, startNodeIn } from './start-node.ts'
import { TOKEN } from './start-service.ts'

const ROUNDS = 15
const RUNS = 4
const MAX_WAIT_MS = 60_000

type Samples = { released: number[]; recovered: number[]; first_entry: number[] }

/**
 * From `kill -9` of a worker until its runs are released by its lease, recovered by a worker, and have the
 * first new entry: four runs whose steps take half a second, of a service whose processes are `serve`, `work`
 * and `work`, then of a single process that is started again.
 */
export async function recovery(): Promise<string> {
  const several = await simulate('serve', ['work', 'work'])
  const single = await simulate('all', [])
  return [
    'recovery: from kill -9 of a worker',
    ...lines('another worker', several),
    ...lines('restart of a single process', single),
    '',
  ].join('\n')
}

async function simulate(first: 'serve' | 'all', others: 'work'[]): Promise<Samples> {
  await using stack = new AsyncDisposableStack()
  const repository = stack.use(makeRepository())
  const step = (n: number) => ({ name: 'shell', arguments: { command: `echo ${n} >> steps.txt; sleep 0.5` } })
  const model = stack.use(await startFakeOpenAI((_request, n) => ({ tool_calls: [step(n)] })))
  const database = stack.use(await startDatabase())
  const env = {
    ...nodeSettings(database, repository, model),
    AGENTRUN_RUN_MAX_RECOVERIES: '1000',
    AGENTRUN_RUN_MAX_STEPS: '100000',
    AGENTRUN_RUN_MAX_TOKENS: '100000000',
    AGENTRUN_WORKER_CONCURRENCY: String(RUNS),
  }
  const api = await startNode(stack, env, first)
  let workers: Node[] = first === 'all' ? [api] : []
  for (const role of others) workers.push(await startNode(stack, env, role))
  const db = database.open(2)
  for (let n = 0; n < RUNS; n++) await createRun(api.base_url)
  const samples: Samples = { released: [], recovered: [], first_entry: [] }
  for (let round = 0; round < ROUNDS; round++) {
    await everyRunAdvances(db)
    // Spread over the period of the heartbeat.
    await delay(1_000 * ((round * 0.618) % 1))
    const victim = await busiest(db, workers)
    const { rows } = await db.query<{ id: number }>({
      text: `select id from runs where owner like $1`,
      values: [`${victim.child.pid}-%`],
    })
    const killed_at = Date.now()
    victim.child.kill('SIGKILL')
    const measured = Promise.all(rows.map(run => measure(db, run.id, killed_at, samples)))
    await victim.ended
    workers = [
      ...workers.filter(worker => worker !== victim),
      await startNodeIn(stack, env, others[0] ?? first, victim.data_dir),
    ]
    await measured
  }
  return samples
}

async function createRun(base_url: string): Promise<void> {
  const response = await fetch(`${base_url}/v1/organizations/1/agent/run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Take steps.', repo_id: 1 }),
  })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
}

async function everyRunAdvances(db: Database): Promise<void> {
  const counts = async () =>
    (await db.query<{ id: number; n: number }>({ text: 'select id, total_logs as n from runs' })).rows
  const before = new Map((await counts()).map(run => [run.id, run.n]))
  while ((await counts()).some(({ id, n }) => n < (before.get(id) ?? 0) + 2)) await delay(50)
}

async function busiest(db: Database, workers: Node[]): Promise<Node> {
  const { rows } = await db.query<{ pid: number }>({
    text: `select split_part(owner, '-', 1)::int as pid
      from runs
      where owner is not null
      group by 1
      order by count(*) desc`,
  })
  const found = workers.find(worker => worker.child.pid === rows[0]?.pid)
  if (found === undefined) throw new Error('no worker has a run')
  return found
}

async function measure(db: Database, id: number, killed_at: number, samples: Samples): Promise<void> {
  let released_at = 0
  for (const end = Date.now() + MAX_WAIT_MS; Date.now() < end; await delay(20)) {
    const { rows } = await db.query<{ released: boolean; recovered_at: Date | null; entry_at: Date | null }>({
      text: `select recovering_since is not null as released,
          (
            select min(created_at)
            from journal
            where run_id = $1 and kind = 'recovered' and created_at > $2
          ) as recovered_at,
          (select min(created_at) from log_entries where run_id = $1 and created_at > $2) as entry_at
        from runs
        where id = $1`,
      values: [id, new Date(killed_at)],
    })
    const [run] = rows
    if (released_at === 0 && run?.released) released_at = Date.now()
    if (!run?.entry_at || !run.recovered_at) continue
    samples.released.push((released_at || Date.now()) - killed_at)
    samples.recovered.push(run.recovered_at.getTime() - killed_at)
    samples.first_entry.push(run.entry_at.getTime() - killed_at)
    return
  }
  throw new Error(`run ${id} was not recovered`)
}

function lines(title: string, samples: Samples): string[] {
  const row = ([name, values]: [string, number[]]) =>
    `    ${name.padEnd(12)} median ${quantile(values, 0.5).toFixed(0)} ms  p95 ${quantile(values, 0.95).toFixed(0)} ms  (${values.length})`
  return [`  ${title}`, ...Object.entries(samples).map(row)]
}
