import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunStartup, StartupStatistics } from '../../../src/contract/runs/startups.ts'
import { insertStartup, type StartupTimes } from '../../../src/store/runs/run-startups.ts'
import { getRun } from '../../../src/store/runs/runs.ts'
import { StartupTimer } from '../../../src/worker/claim/startup-timer.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'
import { noTelemetry } from '../../telemetry/no-telemetry.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const at = (path: string) => `/v1/organizations/${app.org_id}${path}`
const times = (ms: number | null): StartupTimes => ({
  queue_ms: 1,
  claim_ms: 2,
  mirror_ms: 3,
  clone_ms: ms,
  setup_ms: ms,
  sandbox_ms: 6,
  first_model_byte_ms: 7,
  first_action_ms: 8,
})
const add = async (ms: number | null) => {
  const { id } = await createRun(app, { prompt: 'x' })
  const rest = {
    environment: { id: 3, made: false, age_seconds: 60 },
    spans: [{ part: 'mirror' as const, start_ms: 3, duration_ms: 3 }],
  }
  expect(await insertStartup(app.db, app.org_id, id, app.repo_id, { ...times(ms), ...rest })).toBe(true)
  expect(await insertStartup(app.db, app.org_id, id, app.repo_id, { ...times(999), ...rest })).toBe(false)
  return id
}

test('200: a run reports the duration of its start, nothing before it has begun; a repository reports the metrics of all', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  const nothing = await app.call('GET', at(`/agent/run/${id}/startup`))
  expect(RunStartup.strict().parse(nothing.body)).toMatchObject({
    agent_run_id: id,
    queue_ms: null,
    first_action_ms: null,
    environment: null,
  })
  const none = await app.call('GET', at(`/repos/${app.repo_id}/startups`))
  expect(StartupStatistics.strict().parse(none.body)).toMatchObject({
    runs: 0,
    p50: { clone_ms: null },
    p95: { queue_ms: null },
  })

  const run = await add(5)
  expect((await app.call('GET', at(`/agent/run/${run}/startup`))).body).toEqual({
    agent_run_id: run,
    ...times(5),
    environment: { id: 3, made: false, age_seconds: 60 },
    spans: [{ part: 'mirror', start_ms: 3, duration_ms: 3 }],
  })
  for (let ms = 10; ms < 200; ms += 10) await add(ms)
  await add(null)
  const { body } = await app.call('GET', at(`/repos/${app.repo_id}/startups`))
  expect(body).toMatchObject({
    runs: 21,
    p50: { clone_ms: 90, queue_ms: 1 },
    p95: { clone_ms: 180, first_action_ms: 8 },
  })
  const later = await app.call('GET', at(`/repos/${app.repo_id}/startups?since=2999-01-01T00:00:00Z`))
  expect(later.body).toMatchObject({ runs: 0, since: '2999-01-01T00:00:00.000Z' })
})

test('200: the time of an earlier owner that died counts as part of the start, not of the queue', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  const run = await getRun(app.db, app.org_id, id)
  if (run === undefined) throw new Error('no run')
  const after = (seconds: number) => new Date(run.created_at.getTime() + seconds * 1_000)
  const startup = new StartupTimer(
    { db: app.db, log: () => {}, telemetry: noTelemetry() },
    { ...run, started_at: after(2), updated_at: after(60) },
    performance.now(),
  )
  await startup.during('sandbox_ms', () => startup.during('setup_ms', async () => {}))
  startup.reached('first_model_byte_ms')
  await startup.write()
  const { body } = await app.call('GET', at(`/agent/run/${id}/startup`))
  expect(body).toMatchObject({ queue_ms: 2_000, first_action_ms: null })
  expect(body.first_model_byte_ms).toBeGreaterThanOrEqual(60_000)
  expect(body.spans.map(({ part }: { part: string }) => part)).toEqual(
    expect.arrayContaining(['queue', 'claim', 'sandbox', 'setup']),
  )
  expect(body.spans[0]).toEqual({ part: 'queue', start_ms: 0, duration_ms: 2_000 })
  expect(body.spans.at(-1).start_ms).toBeGreaterThanOrEqual(60_000)
})

test('400 and 404', async () => {
  expectProblem(
    await app.call('GET', at(`/repos/${app.repo_id}/startups?since=yesterday`)),
    400,
    'query.since',
  )
  expectProblem(await app.call('GET', at(`/repos/${other.repo_id}/startups`)), 404)
  expectProblem(await app.call('GET', at(`/agent/run/${other.run_id}/startup`)), 404)
  expectProblem(await app.call('GET', at('/agent/run/424242/startup')), 404)
})
