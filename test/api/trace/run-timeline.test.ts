import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunTimeline } from '../../../src/contract/runs/timeline.ts'
import { append, type NewEntry } from '../../../src/store/runs/append.ts'
import { entry } from '../../../src/trace/entry.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const timeline = (id: number, query = '') =>
  app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}/timeline${query}`)
const write = (id: number, entries: NewEntry[]) => append(app.db, app.org_id, id, null, { entries })
const shell = (exit_code: number) =>
  entry({
    message_type: 'ACTION',
    tool_name: 'shell',
    tool_input: { command: 'x' },
    tool_output: { status: 'ok', exit_code },
  })
const plan = (state: string) =>
  entry({ message_type: 'PLAN_EVALUATION', observation: { plan: [{ id: 1, text: 'Find it', state }] } })
const paid = (id: number, cost_usd: string | null) =>
  append(app.db, app.org_id, id, null, {
    records: [
      { kind: 'model_answered', key: null, body: '{}' },
      { kind: 'tool_started', key: 'call', body: '{}' },
    ],
    usage: {
      model: 'm',
      steps: 1,
      input_tokens: 1,
      output_tokens: 1,
      cached_tokens: 0,
      cost_usd,
      estimated_calls: 0,
    },
  })

test('200: turns, sections and parts with their failures and costs', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  await paid(id, '0.5')
  await write(id, [plan('in_progress'), shell(0)])
  await paid(id, '0.25')
  await write(id, [shell(1), plan('done'), entry({ message_type: 'ERROR' })])
  const { status, body } = await timeline(id)
  expect(status).toBe(200)
  RunTimeline.strict().parse(body)
  expect(body).toMatchObject({ agent_run_id: id, total_logs: 6 })
  expect(body.turns).toMatchObject([
    {
      turn: 1,
      from_seq: 1,
      through_seq: 6,
      failed: 2,
      cost_usd: '0.75',
      sections: [
        { title: null, from_seq: 1, through_seq: 1, failed: 0, cost_usd: '0' },
        { title: 'Find it', from_seq: 2, through_seq: 4, failed: 1, cost_usd: '0.75' },
        { title: null, from_seq: 5, through_seq: 6, failed: 1, cost_usd: '0' },
      ],
    },
  ])
  expect(
    body.parts.map((part: { from_seq: number; through_seq: number }) => [part.from_seq, part.through_seq]),
  ).toEqual([1, 2, 3, 4, 5, 6].map(seq => [seq, seq]))
  expect(body.parts[3]).toMatchObject({
    failed: 1,
    cost_usd: '0.25',
    kinds: [{ message_type: 'ACTION', tool_name: 'shell', entries: 1 }],
  })
})

test('parts are as many as requested, and cover every entry once', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  await write(
    id,
    Array.from({ length: 999 }, (_, n) => shell(n % 100 === 0 ? 1 : 0)),
  )
  const { body } = await timeline(id, '?parts=10')
  expect(body.parts.map((part: { from_seq: number }) => part.from_seq)).toEqual([
    1, 101, 201, 301, 401, 501, 601, 701, 801, 901,
  ])
  expect(body.parts.map((part: { failed: number }) => part.failed)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
  expect(body.parts.at(-1)).toMatchObject({
    through_seq: 1000,
    kinds: [{ tool_name: 'shell', entries: 100 }],
  })
})

test('costs are null when the price of a model is unknown', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  await paid(id, '0.5')
  await paid(id, null)
  const { body } = await timeline(id)
  expect([body.turns[0].cost_usd, body.parts[0].cost_usd]).toEqual([null, null])
})

test('a plan without an item in progress is at its next one', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  await write(id, [plan('pending')])
  expect((await timeline(id)).body.turns[0].sections).toMatchObject([
    { title: null },
    { title: 'Find it', from_seq: 2 },
  ])
})

test('a plan of any shape is a section without a title', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  for (const observation of ['text', { plan: 7 }, { plan: [null, 3, { state: 'in_progress' }] }])
    await write(id, [entry({ message_type: 'PLAN_EVALUATION', observation })])
  expect((await timeline(id)).body.turns[0].sections).toMatchObject([
    { title: null, from_seq: 1, through_seq: 4 },
  ])
})

test('an unknown run, and a number of parts that is not allowed, are refused with the field', async () => {
  expectProblem(await timeline(424_242), 404)
  for (const parts of ['0', '1001', 'x'])
    expectProblem(await timeline(1, `?parts=${parts}`), 400, 'query.parts')
})
