import { setTimeout as delay } from 'node:timers/promises'
import { startFakeOpenAI } from '../test/model/fake-openai.ts'
import type { ServiceProcess } from '../test/runs/recovery/service-process.ts'
import { makeRepository } from './make-repository.ts'
import { familyMs } from './processor.ts'
import { quantile } from './rate.ts'
import { type BenchDatabase, startDatabase } from './start-database.ts'
import { nodeSettings, startNode } from './start-node.ts'
import { TOKEN } from './start-service.ts'

const STEPS = 5
const AT_A_TIME = 12
const MAX_SECONDS = 120

/**
 * Two processes that serve and three that work on one database, and 200 short runs, each with a clone, five
 * commands, a commit and a push: beside 40 of them in one process that does it all. Bounded in time; what has
 * not ended by then is reported.
 */
export async function manyNodes(): Promise<string> {
  const alone = await simulate(['all'], 40)
  const together = await simulate(['serve', 'serve', 'work', 'work', 'work'], 200)
  return [
    `many-nodes: runs of ${STEPS} commands, ${AT_A_TIME} at a time, a model that responds immediately`,
    ...lines('one process', alone),
    ...lines('2 serve and 3 work', together, alone),
    '',
  ].join('\n')
}

type SeenRuns = {
  runs: number
  ended: number
  seconds: number
  create: number[]
  read: number[]
  processor: Record<string, number>
}

async function simulate(roles: ('all' | 'serve' | 'work')[], runs: number): Promise<SeenRuns> {
  await using stack = new AsyncDisposableStack()
  const repository = stack.use(makeRepository())
  const model = stack.use(
    await startFakeOpenAI(request => {
      const steps = (request.body as { messages: { role: string }[] }).messages.filter(
        message => message.role === 'tool',
      ).length
      return steps < STEPS
        ? { tool_calls: [{ name: 'shell', arguments: { command: `echo ${steps} >> notes-${steps}.txt` } }] }
        : { text: 'Done.' }
    }),
  )
  const database = stack.use(await startDatabase())
  const workers = roles.filter(role => role !== 'serve').length
  const env = {
    ...nodeSettings(database, repository, model),
    AGENTRUN_WORKER_CONCURRENCY: String(AT_A_TIME / workers),
  }
  const processes: { role: string; process: ServiceProcess }[] = []
  for (const role of roles) processes.push({ role, process: await startNode(stack, env, role) })
  const urls = processes.map(({ process }) => process.base_url).filter(url => url !== '')
  const db = database.open(1)
  const timed = async (into: number[], url: string, init: RequestInit = {}) => {
    const before = performance.now()
    const response = await fetch(
      `${url}/v1/organizations/1/agent/run${init.method === 'POST' ? '' : 's?limit=20'}`,
      {
        ...init,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      },
    )
    if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${await response.text()}`)
    await response.text()
    into.push(performance.now() - before)
  }

  const seen: SeenRuns = { runs, ended: 0, seconds: 0, create: [], read: [], processor: {} }
  const before = processors(processes, database)
  const started = performance.now()
  const body = JSON.stringify({ prompt: 'Take some notes.', repo_id: 1 })
  const creating = (async () => {
    for (let n = 0; n < runs; n++)
      await timed(seen.create, urls[n % urls.length] ?? '', { method: 'POST', body })
  })()
  for (let n = 0; ; n++) {
    await timed(seen.read, urls[n % urls.length] ?? '')
    await delay(100)
    const { rows } = await db.query<{ ended: number; failed: string | null }>({
      text: `select count(*) filter (where status = 'completed')::int as ended,
          max(error_message) filter (where status = 'failed') as failed
        from runs`,
    })
    if (rows[0]?.failed) throw new Error(`a run failed: ${rows[0].failed}`)
    seen.ended = rows[0]?.ended ?? 0
    seen.seconds = (performance.now() - started) / 1_000
    if (seen.ended === runs || seen.seconds > MAX_SECONDS) break
  }
  await creating
  const after = processors(processes, database)
  for (const [name, ms] of Object.entries(after)) seen.processor[name] = (ms - (before[name] ?? 0)) / 1_000
  return seen
}

/** Milliseconds of processor time so far, by what the processes do. */
function processors(
  processes: { role: string; process: ServiceProcess }[],
  database: BenchDatabase,
): Record<string, number> {
  const spent: Record<string, number> = { database: familyMs(database.pid) }
  for (const { role, process } of processes)
    spent[role] = (spent[role] ?? 0) + familyMs(process.child.pid ?? 0)
  return spent
}

function lines(title: string, seen: SeenRuns, beside?: SeenRuns): string[] {
  const rate = seen.ended / seen.seconds
  const ratio = beside ? `, ${(rate / (beside.ended / beside.seconds)).toFixed(2)} × one process` : ''
  const each = Object.entries(seen.processor).map(
    ([name, seconds]) => `${name} ${((seconds * 1_000) / seen.ended).toFixed(0)} ms`,
  )
  const times = (name: string, values: number[]) =>
    `${name} median ${quantile(values, 0.5).toFixed(1)} ms p99 ${quantile(values, 0.99).toFixed(1)} ms (${values.length})`
  return [
    `  ${title}: ${seen.ended} of ${seen.runs} runs in ${seen.seconds.toFixed(0)} s, ${rate.toFixed(2)} runs/s${ratio}`,
    `    meanwhile ${times('create', seen.create)}, ${times('list', seen.read)}`,
    `    processor time of a run: ${each.join(', ')}`,
  ]
}
