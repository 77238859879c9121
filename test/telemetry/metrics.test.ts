import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoints } from '../../src/contract/endpoints.ts'
import { toolInputs } from '../../src/contract/runs/tools.ts'
import { DatabaseProxy } from '../api/database/database-proxy.ts'
import { createTestDatabase } from '../database.ts'
import { awaitEnd, awaitRun, createRun, followRun } from '../runs/await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from '../runs/coding-app.ts'
import { startApp } from '../start-app.ts'
import { metricsUrl, readMetrics, sampleOf } from './read-metrics.ts'

let app: CodingApp
let url: string
beforeAll(async () => {
  const usage = { input: 100, output: 10, cached: 40 }
  app = await startCodingApp(
    (_request, n) =>
      [
        { status: 503, headers: { 'retry-after': '0' }, body: {} },
        { ...calls(shell('true')), usage },
        { ...calls(shell('exit 3'), { name: 'made_up_by_the_model', arguments: {} }), usage },
        { ...calls({ name: 'ask', arguments: { question: 'Which?' } }), usage },
        { text: 'Done.', usage },
      ][n] ?? { text: 'more' },
    { AGENTRUN_METRICS_PORT: '0' },
  )
  url = metricsUrl(app)
})
afterAll(() => app[Symbol.asyncDispose]())

test('all activity of a run is counted: claim, model, tokens, retry, tools, sandbox, end; and requests by operation', async () => {
  const { id } = await createRun(app, { prompt: 'count this', title: 'a title nobody should count' })
  await awaitRun(app, id, run => run.status === 'waiting')
  const waiting = await readMetrics(url)
  expect(sampleOf(waiting, 'agentrun_runs', { status: 'waiting' })).toBe(1)
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'This.',
  })
  await awaitEnd(app, id)
  await app.call('GET', '/v1/organizations/424242/agent/runs')
  await app.call('GET', '/v1/no/such/path')
  const samples = await readMetrics(url)
  const value = (name: string, labels: Record<string, string> = {}) =>
    sampleOf(samples, `agentrun_${name}`, labels)
  expect({
    claims: value('claims_total'),
    calls: value('model_calls_total', { provider: 'openai-compatible', outcome: 'ok' }),
    failed: value('model_calls_total', { provider: 'openai-compatible', outcome: 'unavailable' }),
    retries: value('model_retries_total', { code: 'unavailable' }),
    tokens: ['input', 'output', 'cached'].map(type => value('model_tokens_total', { type })),
    cached: value('turn_cached_ratio_sum'),
    shell: ['ok', 'error'].map(status => value('tool_calls_total', { tool: 'shell', status })),
    unknown: value('tool_calls_total', { tool: 'unknown', status: 'error' }),
    questions: value('turns_ended_total', { outcome: 'waiting' }),
    completed: value('turns_ended_total', { outcome: 'completed' }),
    active: value('turns_active'),
    creates: value('http_request_duration_seconds_count', { operation: 'createAgentRun', status: '2xx' }),
    refused: value('http_request_duration_seconds_count', { operation: 'listAgentRuns', status: '4xx' }),
    nothing: value('http_request_duration_seconds_count', { operation: 'none', status: '4xx' }),
    build: value('build_info', { version: 'test', role: 'all' }),
    up: value('database_up'),
    workers: value('workers', { state: 'able' }),
    uncaught: ['uncaughtException', 'unhandledRejection'].map(event =>
      value('uncaught_errors_total', { event }),
    ),
    slots: (value('worker_slots', { state: 'busy' }) ?? 0) + (value('worker_slots', { state: 'free' }) ?? 0),
  }).toEqual({
    claims: 2,
    calls: 4,
    failed: 1,
    retries: 1,
    tokens: [400, 40, 160],
    cached: 0.8,
    shell: [1, 1],
    unknown: 1,
    questions: 1,
    completed: 1,
    active: 0,
    creates: 1,
    refused: 1,
    nothing: 1,
    build: 1,
    up: 1,
    workers: 1,
    uncaught: [0, 0],
    slots: 4,
  })
  for (const part of ['queue', 'claim', 'mirror', 'sandbox', 'first_action'])
    expect(value('run_start_duration_seconds_count', { part })).toBe(1)
  expect(value('sandbox_starts_total', { outcome: 'ok' })).toBeGreaterThan(0)
  // Of three steps in a stretch: nothing comes after the last, and the first waits for the workspace.
  expect(value('step_overhead_seconds_count')).toBe(1)
  expect(value('database_wait_seconds_count')).toBeGreaterThan(10)
  for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds', 'process_open_fds'])
    expect({ name, there: sampleOf(samples, name) !== undefined }).toEqual({ name, there: true })
})

test('labels have only values of the service, regardless of names that people and models use', async () => {
  await app.call('PATCH', `/v1/organizations/${app.org_id}`, { name: 'Acme Rockets' })
  await app.call('GET', `/v1/organizations/${app.org_id}/users/my-own-word?tag=my-own-word`)
  const samples = (await readMetrics(url)).filter(sample => sample.name.startsWith('agentrun_'))
  const words = new Set(
    samples.flatMap(({ labels }) =>
      Object.entries(labels).flatMap(([key, text]) => (key === 'le' ? [] : [text])),
    ),
  )
  const fixed = [
    ...Object.keys(endpoints),
    'none',
    'page',
    'asset',
    'uncaughtException',
    'unhandledRejection',
  ]
  const strangers = [...words].filter(
    word => !fixed.includes(word) && !Object.hasOwn(toolInputs, word) && !/^[a-z0-9_-]{0,20}$/.test(word),
  )
  expect(strangers).toEqual([])
  expect(JSON.stringify(samples)).not.toMatch(/my-own-word|Acme|made_up|count this|nobody should|fake"/)
})

test('readers of streams are counted while they read', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  await awaitEnd(app, id)
  for await (const frame of followRun(app, id)) {
    expect(frame.event).toBeDefined()
    expect(sampleOf(await readMetrics(url), 'agentrun_http_streams')).toBe(1)
    break
  }
})

test('what waits in the queue is counted, with its age', async () => {
  await using idle = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_METRICS_PORT: '0' })
  await createRun(idle, { prompt: 'x' })
  await createRun(idle, { prompt: 'x' })
  await idle.db.query({
    text: `update runs
      set runnable_at = now() - interval '1 hour'
      where id = (select min(id) from runs)`,
  })
  const samples = await readMetrics(metricsUrl(idle))
  expect(sampleOf(samples, 'agentrun_runs', { status: 'queued' })).toBe(2)
  expect(sampleOf(samples, 'agentrun_queue_runs')).toBe(2)
  expect(sampleOf(samples, 'agentrun_queue_oldest_seconds')).toBeGreaterThanOrEqual(3_600)
})

test('the port also has the probes, and nothing else', async () => {
  const statusOf = async (path: string, method = 'GET') => (await fetch(url + path, { method })).status
  expect(await Promise.all(['/healthz', '/readyz', '/metrics'].map(path => statusOf(path)))).toEqual([
    200, 200, 200,
  ])
  expect(await Promise.all(['/', '/v1/users/me', '/openapi.json'].map(path => statusOf(path)))).toEqual([
    404, 404, 404,
  ])
  expect(await statusOf('/metrics', 'POST')).toBe(404)
})

test('while the database is unavailable the metrics of the process are reported, those of the database are not, and it is not ready', async () => {
  await using database = await createTestDatabase()
  await using proxy = new DatabaseProxy(database.url)
  await proxy.up()
  await using behind = await startApp({
    DATABASE_URL: proxy.url,
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_METRICS_PORT: '0',
  })
  await proxy.down()
  const samples = await readMetrics(metricsUrl(behind))
  expect(sampleOf(samples, 'agentrun_database_up')).toBe(0)
  expect(samples.filter(({ name }) => /^agentrun_(runs|queue|worker)/.test(name))).toEqual([])
  const ready = await fetch(`${metricsUrl(behind)}/readyz`)
  expect({ status: ready.status, retry: ready.headers.get('retry-after'), body: await ready.json() }).toEqual(
    {
      status: 503,
      retry: '2',
      body: { status: 'the database does not respond' },
    },
  )
  expect((await fetch(`${metricsUrl(behind)}/healthz`)).status).toBe(200)
  await proxy.up()
})
