import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFakeOpenAI } from '../model/fake-openai.ts'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { type CodingApp, calls, makeRepository, shell, startCodingApp } from '../runs/coding-app.ts'
import { sourceFiles } from '../source-tree.ts'
import { startApp } from '../start-app.ts'
import { type Collector, startCollector } from './otlp-collector.ts'

const trace_id = '0af7651916cd43dd8448eb211c80319c'
const span_id = 'b7ad6b7169203331'
const traced = (flags = '01') => ({ traceparent: `00-${trace_id}-${span_id}-${flags}` })

let collector: Collector
let app: CodingApp
beforeAll(async () => {
  collector = await startCollector()
  app = await startCodingApp(
    (_request, n) =>
      n === 0
        ? { status: 500, headers: { 'retry-after': '0' }, body: { error: { message: 'passes' } } }
        : ([
            calls(shell('echo SECRET-OUTPUT'), { name: 'no_such_tool', arguments: {} }),
            { text: 'SECRET-ANSWER', usage: { input: 11, output: 5, cached: 3 } },
          ][n - 1] ?? { text: 'more' }),
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=of%20the%20collector',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_SERVICE_NAME: 'agents',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  )
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
})

test('a run is one trace below the request that created it: turn, calls of the model and tools, by the conventions, and no content', async () => {
  const path = `/v1/organizations/${app.org_id}/agent/run`
  const { body, headers } = await app.call('POST', path, { prompt: 'SECRET-PROMPT' }, traced())
  expect(await awaitEnd(app, body.id)).toMatchObject({ status: 'completed' })
  const [turn] = await collector.until(span => span.name === 'invoke_agent built_in')
  const mine = collector.spans.filter(span => span.trace_id === trace_id)
  const [request] = mine.filter(span => span.kind === 'server')
  expect(request).toMatchObject({
    name: 'POST /v1/organizations/:org_id/agent/run',
    parent_id: span_id,
    failed: false,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v1/organizations/:org_id/agent/run',
      'http.response.status_code': 200,
      'url.path': path,
      'agentrun.operation': 'createAgentRun',
      'agentrun.request_id': headers.get('x-request-id'),
    },
    resource: {
      'service.name': 'agents',
      'deployment.environment.name': 'test',
      'service.version': 'test',
      'agentrun.role': 'all',
    },
  })
  expect(turn).toMatchObject({
    trace_id,
    parent_id: request?.span_id,
    kind: 'internal',
    failed: false,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'built_in',
      'gen_ai.conversation.id': String(body.id),
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'fake',
      'agentrun.outcome': 'completed',
      'agentrun.run_id': body.id,
      'gen_ai.usage.cache_read.input_tokens': 3,
    },
  })
  const chats = mine.filter(span => span.attributes['gen_ai.operation.name'] === 'chat')
  expect(
    chats.map(({ name, kind, parent_id, failed }) => ({
      name,
      kind,
      below: parent_id === turn?.span_id,
      failed,
    })),
  ).toEqual([true, false, false].map(failed => ({ name: 'chat fake', kind: 'client', below: true, failed })))
  expect(chats[0]?.attributes).toMatchObject({
    'error.type': 'unavailable',
    'http.response.status_code': 500,
  })
  expect(chats[2]?.attributes).toMatchObject({
    'gen_ai.usage.input_tokens': 11,
    'gen_ai.usage.output_tokens': 5,
    'gen_ai.usage.cache_read.input_tokens': 3,
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.request.stream': true,
  })
  const tools = mine.filter(span => span.attributes['gen_ai.operation.name'] === 'execute_tool')
  expect(
    tools.map(({ name, parent_id, failed }) => ({ name, below: parent_id === turn?.span_id, failed })),
  ).toEqual([
    { name: 'execute_tool shell', below: true, failed: false },
    { name: 'execute_tool unknown', below: true, failed: true },
  ])
  for (const span of mine) expect(span.ended_at).toBeGreaterThanOrEqual(span.began_at)
  for (const word of ['SECRET', 'no_such_tool', 'My organization', app.token])
    expect(Buffer.concat(collector.received).includes(word)).toBe(false)
  expect(collector.headers[0]).toMatchObject({ 'x-api-key': 'of the collector' })
})

test('a follow-up belongs to the trace that requested it', async () => {
  const { id } = await createRun(app, { prompt: 'first' })
  await awaitEnd(app, id)
  const other = '1af7651916cd43dd8448eb211c80319c'
  const resume = { agent_run_id: id, prompt: 'again' }
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, resume, {
    traceparent: `00-${other}-${span_id}-01`,
  })
  await awaitEnd(app, id)
  const [turn] = await collector.until(
    span => span.trace_id === other && span.name.startsWith('invoke_agent'),
  )
  expect(turn?.attributes).toMatchObject({ 'agentrun.turn': 2 })
})

test('an unsampled trace is not sent, and an invalid header starts a new trace', async () => {
  const before = collector.spans.length
  await app.call('GET', '/v1/users/me', undefined, {
    traceparent: `00-2af7651916cd43dd8448eb211c80319c-${span_id}-00`,
  })
  await app.call('GET', '/v1/users/me', undefined, { traceparent: '00-nonsense' })
  await collector.until(span => span.name === 'GET /v1/users/me')
  const seen = collector.spans.slice(before)
  expect(seen.filter(span => span.trace_id.startsWith('2af'))).toEqual([])
  expect(seen.find(span => span.name === 'GET /v1/users/me')).toMatchObject({ parent_id: '' })
})

test('a collector that is unavailable, or refuses, costs spans and no run, and the log reports it once', async () => {
  await using deaf = await startCollector()
  deaf.response = 400
  const repository = makeRepository()
  for (const url of ['http://127.0.0.1:1', deaf.url]) {
    await using model = await startFakeOpenAI(() => ({ text: 'Done.' }))
    const lonely = await startApp({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OPENAI_COMPATIBLE_BASE_URL: model.base_url,
      AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
      AGENTRUN_INIT_REPO_URL: repository,
    })
    const { id } = await createRun(lonely, { prompt: 'x' })
    expect(await awaitEnd(lonely, id)).toMatchObject({ status: 'completed' })
    await lonely[Symbol.asyncDispose]()
    expect(lonely.logs.filter(line => line.level === 'error')).toEqual([])
    if (url === deaf.url)
      expect(lonely.logs.filter(line => line.message.startsWith('spans could not be sent'))).toHaveLength(1)
  }
  expect(deaf.received.length).toBeGreaterThan(1)
})

test('without an endpoint the SDK of OpenTelemetry is not loaded, and the trace of the caller is still propagated', async () => {
  const loaders = sourceFiles('src', ['.ts']).filter(file =>
    /from '(@opentelemetry\/|\.\/otel\.ts|.*telemetry\/otel\.ts)/.test(file.text),
  )
  expect(loaders.map(file => file.path)).toEqual(['src/telemetry/otel.ts'])
  await using quiet = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const { body } = await quiet.call(
    'POST',
    `/v1/organizations/${quiet.org_id}/agent/run`,
    { prompt: 'x' },
    traced(),
  )
  const { rows } = await quiet.db.query({
    text: 'select traceparent from runs where id = $1',
    values: [body.id],
  })
  expect(rows).toEqual([traced()])
})
