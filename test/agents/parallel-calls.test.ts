// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { join } from 'node:path'
import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { createTestDatabase } from '../database.ts'
import { startFakeOpenAI } from '../model/fake-openai.ts'
import type { FakeReply, FakeScript } from '../model/fake-server.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { makeRepository } from '../runs/coding-app.ts'
import { startServiceProcess } from '../runs/recovery/service-process.ts'
import { rows, TOKEN } from '../start-app.ts'
import { testFolder } from '../temporary-folder.ts'
import { callAgentApi } from './agent-api.ts'
import { programEnv, startProgramApp } from './program-app.ts'

const agent_type = 'program'
const HELLO: FakeReply = { text: 'Hello.' }

/** Responds when `width` requests are there, and knows how many there were at most. */
function barrier(width: number) {
  let waiting: ((reply: FakeReply) => void)[] = []
  const seen = { most: 0 }
  const script: FakeScript = () =>
    new Promise(resolve => {
      waiting.push(resolve)
      seen.most = Math.max(seen.most, waiting.length)
      if (waiting.length < width) return
      const all = waiting
      waiting = []
      for (const respond of all) respond(HELLO)
    })
  return { script, seen }
}

/** A response costs 0.02 dollars, and the output that a call may have at least, 1,000 tokens, one dollar. */
const PRICES = JSON.stringify({
  'openai-compatible/fake': { price: { input: '0', output: '1000' }, max_output_tokens: 1_000 },
})

test('a program calls the model in parallel; each call takes the statements of its start and of its end', async () => {
  const { script, seen } = barrier(6)
  await using app = await startProgramApp(script)
  const query = vi.spyOn(pg.Client.prototype, 'query')
  const { id } = await createRun(app, { prompt: 'do: call at once 6', agent_type })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({
    status: 'completed',
    result: '[6 sent, 0 refused]',
    usage: { input_tokens: 600, output_tokens: 120 },
  })
  expect(seen.most).toBe(6)
  const writes = query.mock.calls.map(([sent]) => JSON.stringify(Object(sent).values ?? []))
  query.mockRestore()
  expect(writes.filter(values => values.includes('model_started'))).toHaveLength(6)
  expect(writes.filter(values => values.includes('model_answered'))).toHaveLength(6)
  const journal = await rows<{ kind: string; key: string | null }>(
    app,
    'select kind, key from journal where run_id = $1 order by n',
    [id],
  )
  const keys = (kind: string) => journal.filter(row => row.kind === kind).map(({ key }) => key)
  expect(new Set(keys('model_started')).size).toBe(6)
  expect(keys('model_answered').toSorted()).toEqual(keys('model_started').toSorted())
})

test('calls that do not fit beside those in flight wait for them, and a budget is neither exceeded nor left unused', async () => {
  const { script, seen } = barrier(2)
  await using app = await startProgramApp(script, { AGENTRUN_MODELS: PRICES })
  const { id } = await createRun(app, {
    prompt: 'do: call at once 6',
    agent_type,
    budget: { max_cost_usd: '2.5' },
  })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({
    status: 'completed',
    result: '[6 sent, 0 refused]',
    usage: { cost_usd: '0.12' },
  })
  expect(seen.most).toBe(2)
  expect(await rows(app, 'select reserved_usd::text from runs where id = $1', [id])).toEqual([
    { reserved_usd: '0' },
  ])
})

test('a limit of steps counts the calls in flight', async () => {
  await using app = await startProgramApp(() => HELLO)
  const { id } = await createRun(app, { prompt: 'do: call at once 5', agent_type, budget: { max_steps: 3 } })
  expect(await awaitRun(app, id, run => run.status === 'paused')).toMatchObject({
    status_reason: 'budget',
    usage: { input_tokens: 300 },
  })
  expect(app.model.requests).toHaveLength(3)
})

test('kill -9 during parallel calls: each is charged once with what was reserved for it, and the run continues', async () => {
  const { promise: all_sent, resolve } = Promise.withResolvers<void>()
  let killed = false
  await using database = await createTestDatabase()
  await using model = await startFakeOpenAI((_request, n) => {
    if (n === 2) resolve()
    return killed ? HELLO : { stall: 'before_headers' }
  })
  const env = {
    AGENTRUN_DATA_DIR: join(testFolder(), 'data'),
    DATABASE_URL: database.url,
    AGENTRUN_INIT_TOKEN: TOKEN,
    AGENTRUN_INIT_REPO_URL: makeRepository(),
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
    AGENTRUN_MODELS: PRICES,
    ...programEnv(),
  }
  let service = await startServiceProcess(env)
  const call = (method: string, path: string, body?: unknown) =>
    callAgentApi(service.base_url, method, path, body)
  try {
    const { id } = await call('POST', '/run', { prompt: 'do: call at once 3', agent_type })
    await all_sent
    service.child.kill('SIGKILL')
    await service.ended
    killed = true
    service = await startServiceProcess(env)
    await expect
      .poll(async () => (await call('GET', `/run/${id}`)).terminal, { timeout: 60_000, interval: 200 })
      .toBe(true)
    // Three lost calls of one dollar, and three that a new process repeats.
    expect(await call('GET', `/run/${id}`)).toMatchObject({
      status: 'completed',
      usage: { cost_usd: '3.06' },
    })
    const { counts } = await call('GET', `/run/${id}/recovery`)
    expect(counts).toMatchObject({ interrupted: 3, committed: 3 })
  } finally {
    service.child.kill('SIGKILL')
    await service.ended
  }
}, 120_000)

test('a run that is stopped ends its parallel calls, and each is accounted for', async () => {
  const { promise: all_sent, resolve } = Promise.withResolvers<void>()
  await using app = await startProgramApp((_request, n) => {
    if (n === 2) resolve()
    return { stall: 'before_headers' }
  })
  const { id } = await createRun(app, { prompt: 'do: call at once 3', agent_type })
  await all_sent
  expect(
    (await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })).status,
  ).toBe(200)
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'cancelled' })
  const journal = await rows<{ kind: string }>(
    app,
    "select kind from journal where run_id = $1 and kind like 'model_%'",
    [id],
  )
  const count = (kind: string) => journal.filter(row => row.kind === kind).length
  expect([count('model_started'), count('model_failed')]).toEqual([3, 3])
  expect((await allLogs(app, id)).filter(({ message_type }: any) => message_type === 'ERROR')).toEqual([])
})
