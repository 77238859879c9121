import { digest } from '../src/core/access/token.ts'
import { insertToken } from '../src/store/access/token-access.ts'
import { Database } from '../src/store/database.ts'
import { claimRun } from '../src/store/leases/claims.ts'
import { addOrganization, fillQueue } from '../test/runs/queue/fill-queue.ts'
import { residentMiB } from './processor.ts'
import { quantile, type Rate, rateOf } from './rate.ts'
import { startService, TOKEN } from './start-service.ts'

const QUEUED = 10_000
const SECONDS = 10
/** More than runs of a minute each need on 1,000 slots. */
const CLAIMS_A_SECOND = 20
const OTHER_TOKEN = 'bench-token-of-the-other-organization'

/**
 * What two organizations notice of 10,000 queued runs of one of them: creates, lists and cancels over the
 * API, by itself and while workers claim. Beside the same with an empty queue, in the same minute.
 */
export async function queue(): Promise<string> {
  await using service = await startService({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  await using db = new Database(service.database_url, { max: 8, on_error: () => {}, statement_ms: 60_000 })
  const origin = service.url.slice(0, service.url.indexOf('/v1/'))
  const large = { organization_id: Number(/\d+$/.exec(service.url)?.[0]), user_id: 1, token: TOKEN }
  const small = { ...(await addOrganization(db, 'Small')), token: OTHER_TOKEN }
  const token = {
    kind: 'personal',
    name: 'bench',
    digest: digest(OTHER_TOKEN),
    wire_profile: 'standard',
    expires_in_seconds: null,
  } as const
  await insertToken(db, { ...token, user_id: small.user_id })

  const call = async (
    of: { organization_id: number; token: string },
    method: string,
    path: string,
    body?: unknown,
  ) => {
    const response = await fetch(`${origin}/v1/organizations/${of.organization_id}${path}`, {
      method,
      headers: { authorization: `Bearer ${of.token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const result = (await response.json()) as { id: number; status: string; detail?: string }
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${result.detail}`)
    return result
  }
  const created: number[] = []
  const create = async (of: typeof large) => {
    const { id } = await call(of, 'POST', '/agent/run', {
      prompt: 'Say what this is good for.',
      repoless: true,
    })
    if (of === large) created.push(id)
  }
  const cancel = async () => {
    const run = await call(large, 'POST', '/agent/run/stop', { agent_run_id: created.pop() })
    if (run.status !== 'cancelled') throw new Error(`a queued run that was stopped is ${run.status}`)
  }
  await db.query({
    text: 'create table bench_baseline (id bigint generated always as identity primary key, text text)',
  })
  const insertOne = () =>
    db.query({
      name: 'bench_insert',
      text: 'insert into bench_baseline (text) values ($1)',
      values: ['x'.repeat(500)],
    })
  /**
   * Four clients of the large organization and one of the small one, who create; then the other requests, two
   * clients at a time.
   */
  const measure = async () => {
    const seconds = SECONDS
    const baseline = await rateOf(5, seconds / 5, insertOne)
    const [of_large, of_small] = await Promise.all([
      rateOf(4, seconds, () => create(large)),
      rateOf(1, seconds, () => create(small)),
    ])
    return {
      'baseline: one row, fsynced, 5 clients': baseline,
      'create, 4 clients of the large one': of_large,
      'create, 1 client of the small one': of_small,
      'cancel of a queued run': await rateOf(2, seconds / 5, cancel),
      'one queued run': await rateOf(2, seconds / 5, () =>
        call(large, 'GET', `/agent/run/${created.at(-1)}`),
      ),
      'list, newest 100': await rateOf(2, seconds / 5, () => call(large, 'GET', '/agent/runs?limit=100')),
      'list, queued, from 5,000 on': await rateOf(2, seconds / 5, () =>
        call(large, 'GET', '/agent/runs?status=queued&skip=5000&limit=100'),
      ),
    }
  }

  const short = await measure()
  await db.query({ text: 'delete from runs' })
  await fillQueue(db, large, QUEUED)
  await db.query({ text: 'analyze' })
  const memory = residentMiB(service.pid)
  const long = await measure()
  const claims: number[] = []
  const claiming = setInterval(async () => {
    const before = performance.now()
    if (await claimRun(db, { owner: 'a worker', seconds: 3_600, turn_seconds: 3_600 }))
      claims.push(performance.now() - before)
  }, 1_000 / CLAIMS_A_SECOND)
  const claimed_meanwhile = await measure().finally(() => clearInterval(claiming))
  const grown = residentMiB(service.pid) - memory

  const worst = Math.max(
    ...[long, claimed_meanwhile].map(seen =>
      quantile(seen['create, 4 clients of the large one'].times, 0.99),
    ),
  )
  const slowest = Math.max(
    ...[long, claimed_meanwhile].map(seen =>
      quantile(seen['baseline: one row, fsynced, 5 clients'].times, 0.99),
    ),
  )
  return [
    `queue: ${QUEUED.toLocaleString('en')} queued runs of one organization, and another one; beside a queue of a few`,
    ...lines('a few queued', short),
    ...lines(`${QUEUED.toLocaleString('en')} queued`, long, short),
    ...lines(`the same while ${CLAIMS_A_SECOND} are claimed a second`, claimed_meanwhile, short),
    `  ${claims.length} claims meanwhile, median ${quantile(claims, 0.5).toFixed(1)} ms  p99 ${quantile(claims, 0.99).toFixed(1)} ms`,
    `  the service's memory grew by ${grown.toFixed(0)} MiB to ${residentMiB(service.pid).toFixed(0)} MiB`,
    `  target: create p99 < 100 ms: ${worst < 100 ? 'met' : 'MISSED'}; it is ${worst.toFixed(0)} ms, ${(worst / slowest).toFixed(1)} × that of one row`,
    '',
  ].join('\n')
}

function lines(title: string, seen: Record<string, Rate>, beside?: Record<string, Rate>): string[] {
  return [
    `  ${title}:`,
    ...Object.entries(seen).map(([name, { per_second, times }]) => {
      const [middle, late] = [quantile(times, 0.5), quantile(times, 0.99)]
      const ratio = beside?.[name]
        ? `  ${(middle / quantile(beside[name].times, 0.5)).toFixed(2)} × the short queue`
        : ''
      return `    ${name.padEnd(36)} ${per_second.toFixed(0).padStart(5)}/s  median ${middle.toFixed(1).padStart(6)} ms  p99 ${late.toFixed(1).padStart(6)} ms${ratio}`
    }),
  ]
}
