import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { Database } from '../../src/store/database.ts'
import { startFakeOpenAI } from '../../test/model/fake-openai.ts'
import type { SeenRequest } from '../../test/model/fake-server.ts'
import { makeRepository } from '../make-repository.ts'
import { familyMs, familyOf, proportionalMiB } from '../processor.ts'
import { quantile } from '../rate.ts'
import { recordMetric } from '../report/metrics.ts'
import { type Service, startService } from '../start-service.ts'

const STEPS = 5
const CLIENTS = 4
const LIST_EVERY_MS = 25
const CREATE_EVERY_MS = 250
const POLL_MS = 250
const MAX_SECONDS = 300

type Row = { runs: number; model_ms: number }
const rows: Row[] = [
  { runs: 1, model_ms: 200 },
  { runs: 10, model_ms: 200 },
  { runs: 50, model_ms: 200 },
  { runs: 50, model_ms: 2_000 },
  { runs: 200, model_ms: 2_000 },
]

/** Milliseconds of each request and of each wait for a first request; CPU in seconds, memory in MiB. */
type CrowdSample = Row & {
  ended: number
  seconds: number
  list: number[]
  create: number[]
  first: number[]
  processor_seconds: number
  memory_each: number
  load: [number, number]
}

/**
 * Crowds of runs, all created at once, that each take five steps of which one writes a file, on a service as
 * `npm start` starts it. Beside them a person lists the runs, and another one creates a run and cancels it.
 */
export async function crowd(): Promise<string> {
  using repository = makeRepository()
  const first_requests = new Map<string, number>()
  let model_ms = 0
  await using model = await startFakeOpenAI(async request => {
    const crowd_run = /Member \d+ of crowd \d+/.exec(JSON.stringify(request.body))?.[0] ?? ''
    if (!first_requests.has(crowd_run)) first_requests.set(crowd_run, request.at)
    await delay(model_ms)
    const step = stepOf(request)
    if (step === STEPS) return { text: 'Done.' }
    const command = step === 1 ? 'date > note.txt' : `true # ${step}`
    return { tool_calls: [{ name: 'shell', arguments: { command } }] }
  })
  await using service = await startService(
    {
      AGENTRUN_INIT_REPO_URL: repository.path,
      OPENAI_COMPATIBLE_BASE_URL: model.base_url,
      AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
      AGENTRUN_WORKER_CONCURRENCY: String(Math.max(...rows.map(row => row.runs))),
    },
    { supervised: true },
  )
  await using db = new Database(service.database_url, { max: 1, on_error: () => {} })
  const measured: CrowdSample[] = []
  // The first row warms the mirror and is not reported.
  for (const [n, row] of [{ runs: 2, model_ms: 0 }, ...rows].entries()) {
    model_ms = row.model_ms
    first_requests.clear()
    const seen = await measureCrowd({ service, db, first_requests, crowd_name: `of crowd ${n}` }, row)
    if (n > 0) measured.push(seen)
  }
  for (const seen of measured) record(seen)
  return [
    `crowd: runs of ${STEPS} steps that are created at once by ${CLIENTS} clients; list and create beside them`,
    ...measured.map(line),
    '',
  ].join('\n')
}

type Crowd = {
  service: Service
  db: Database
  first_requests: Map<string, number>
  crowd_name: string
}

async function measureCrowd(
  { service, db, first_requests, crowd_name }: Crowd,
  row: Row,
): Promise<CrowdSample> {
  const [list, create, created_at]: [number[], number[], number[]] = [[], [], []]
  const idle = memoryOf(service.pid)
  const processor = familyMs(service.pid)
  const load = loadNow()
  const started = performance.now()
  const beside = new AbortController()
  let next = 0
  const creating = Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (next < row.runs) {
        const n = next++
        created_at[n] = performance.now()
        await timed(create, () =>
          service.call('POST', '/agent/run', { prompt: `Member ${n} ${crowd_name}.` }),
        )
      }
    }),
  )
  const people = Promise.all([
    every(LIST_EVERY_MS, beside.signal, () => timed(list, () => service.call('GET', '/agent/runs?limit=20'))),
    every(CREATE_EVERY_MS, beside.signal, async () => {
      const run = await timed(create, () => service.call('POST', '/agent/run', { prompt: 'Soon cancelled.' }))
      await service.call('POST', '/agent/run/stop', { agent_run_id: run.id })
    }),
  ])
  let memory_each = 0
  let ended = 0
  while (ended < row.runs && performance.now() - started < MAX_SECONDS * 1_000) {
    await delay(POLL_MS)
    ended = await endedOf(db, crowd_name)
    const all_began = created_at.every((_at, n) => first_requests.has(`Member ${n} ${crowd_name}`))
    if (all_began && next >= row.runs) memory_each ||= (memoryOf(service.pid) - idle) / row.runs
  }
  const seconds = (performance.now() - started) / 1_000
  beside.abort()
  await Promise.all([creating, people])
  const first = created_at.map(
    (at, n) => (first_requests.get(`Member ${n} ${crowd_name}`) ?? Number.POSITIVE_INFINITY) - at,
  )
  const processor_seconds = (familyMs(service.pid) - processor) / 1_000
  const loads: [number, number] = [load, loadNow()]
  return { ...row, ended, seconds, list, create, first, processor_seconds, memory_each, load: loads }
}

/** Rejects when a run of the crowd has failed. */
async function endedOf(db: Database, crowd_name: string): Promise<number> {
  const { rows: found } = await db.query<{ ended: number; failed: string | null }>({
    text: `select count(*) filter (where status = 'completed')::int as ended,
        max(error_message) filter (where status = 'failed') as failed
      from runs
      where prompt like $1`,
    values: [`Member % ${crowd_name}.`],
  })
  if (found[0]?.failed) throw new Error(`a run failed: ${found[0].failed}`)
  return found[0]?.ended ?? 0
}

async function timed<T>(times: number[], work: () => Promise<T>): Promise<T> {
  const before = performance.now()
  const result = await work()
  times.push(performance.now() - before)
  return result
}

/** Repeats `work`, with a pause after each, until aborted. */
async function every(ms: number, signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    await work()
    await delay(ms)
  }
}

const stepOf = ({ body }: Pick<SeenRequest, 'body'>) =>
  ((body.messages ?? []) as { role: string }[]).filter(message => message.role === 'tool').length

const memoryOf = (pid: number) => familyOf(pid).reduce((sum, of) => sum + proportionalMiB(of), 0)

const loadNow = () => loadavg()[0] ?? Number.NaN

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

function record({ runs, model_ms, ended, list, create, first, memory_each }: CrowdSample): void {
  const of = `${runs} runs at once, model ${model_ms} ms`
  const is_fifty = runs === 50
  const at_most = (limit: number, targeted: boolean) => (targeted ? { at_most: limit } : null)
  const add = (name: string, value: number, unit: string, target: { at_most: number } | null) =>
    recordMetric({ name: `${of}: ${name}`, value, unit, target, floor: null })
  recordMetric({
    name: `${of}: ended`,
    value: ended,
    unit: 'runs',
    target: { at_least: runs },
    floor: null,
  })
  add('list p99', quantile(list, 0.99), 'ms', at_most(100, is_fifty))
  add('create p99', quantile(create, 0.99), 'ms', at_most(200, is_fifty))
  add(
    'longest wait for a first request beside the mean',
    Math.max(...first) / mean(first),
    '×',
    at_most(2, runs > 1),
  )
  add('memory of each', memory_each, 'MiB', at_most(10, runs === 200))
}

function line(seen: CrowdSample): string {
  const { runs, model_ms, ended, seconds, list, create, first, processor_seconds, memory_each, load } = seen
  const p = (values: number[], q: number) => quantile(values, q).toFixed(0)
  return [
    `  ${String(runs).padStart(3)} runs, model ${String(model_ms).padStart(4)} ms: ${ended} ended in ${seconds.toFixed(1)} s`,
    `list p50 ${p(list, 0.5)} p99 ${p(list, 0.99)} ms`,
    `create p50 ${p(create, 0.5)} p99 ${p(create, 0.99)} ms`,
    `first request mean ${mean(first).toFixed(0)} longest ${Math.max(...first).toFixed(0)} ms`,
    `${(processor_seconds / runs).toFixed(2)} s of CPU and ${memory_each.toFixed(1)} MiB each`,
    `load ${load.map(value => value.toFixed(1)).join(' to ')}`,
  ].join('; ')
}
