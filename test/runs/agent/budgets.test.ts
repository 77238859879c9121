import { expect, test } from 'vitest'
import type { SeenRequest } from '../../model/fake-server.ts'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun, followRun } from '../await-run.ts'
import { type CodingApp, calls, finish, PRICED, responses, shell, startCodingApp } from '../coding-app.ts'

const { model } = PRICED
const resume = (app: CodingApp, agent_run_id: number, more: object) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id,
    prompt: 'Go on.',
    ...more,
  })
const most = ({ body }: SeenRequest) => body.max_output_tokens as number
const paused = (app: CodingApp, id: number) => awaitRun(app, id, run => run.status === 'paused')

test('a call that may cost more than the rest of the budget is not sent: the run pauses, reports what is spent, reserved and allowed, and continues after a top-up', async () => {
  await using app = await startCodingApp(responses(finish('Paid for.')))
  const { id } = await createRun(app, { prompt: 'x', model, budget: { max_cost_usd: '0.001' } })
  const run = await paused(app, id)
  expect(run).toMatchObject({
    status_reason: 'budget',
    usage: { cost_usd: '0', input_tokens: 0 },
    error: { code: 'budget' },
  })
  expect(run.error.message).toMatch(
    /has cost 0 USD, its next call of the model may cost up to 0\.00\d+ USD, .* max_cost_usd 0\.001\./,
  )
  expect(app.model.requests).toEqual([])
  await resume(app, id, { budget: { max_cost_usd: '1' } })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 1, result: 'Paid for.' })
})

test('a resume without a new budget is refused while the budget is used up, and leaves an entry with the reason where the next call does not fit', async () => {
  await using app = await startCodingApp((_request, n) => ({
    ...calls(shell(`echo ${n}`)),
    usage: { input: 2_000, output: 100 },
  }))
  const { id } = await createRun(app, { prompt: 'x', budget: { max_steps: 2 } })
  await paused(app, id)
  const entries = (await allLogs(app, id)).length
  for (const more of [{}, { budget: {} }, { budget: { max_active_seconds: 600 } }]) {
    const refused = await resume(app, id, more)
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ loc: ['body', 'budget'] }] } })
    expect(refused.body.detail).toMatch(/used 2 of its max_steps 2/)
  }
  expect(await allLogs(app, id)).toHaveLength(entries)
  await resume(app, id, { budget: { max_steps: 3 } })
  await awaitRun(app, id, run => run.status === 'paused' && run.usage.input_tokens === 6_000)

  const priced = await createRun(app, { prompt: 'x', model, budget: { max_cost_usd: '0.02' } })
  await paused(app, priced.id)
  await resume(app, priced.id, {})
  const why = () =>
    allLogs(app, priced.id).then(logs => logs.filter(entry => entry.observation?.code === 'budget'))
  await expect.poll(async () => (await why()).length, { timeout: 20_000 }).toBe(1)
  expect((await why())[0].observation.message).toMatch(/its budget allows max_cost_usd 0\.02/)
})

test('a response is limited to the rest of the budget', async () => {
  await using app = await startCodingApp(() => finish('Short.'))
  await awaitEnd(app, (await createRun(app, { prompt: 'x', model })).id)
  await awaitEnd(app, (await createRun(app, { prompt: 'x', model, budget: { max_cost_usd: '0.02' } })).id)
  const [free, bound] = app.model.requests.map(most)
  expect(free).toBe(48_000)
  expect(bound).toBeGreaterThanOrEqual(1_000)
  expect(bound).toBeLessThan(0.02 / PRICED.output)
})

test('the cost of a run never exceeds its budget, regardless of the length of its responses', async () => {
  // Each response is as long as it may be.
  await using app = await startCodingApp(request => ({
    ...calls(shell('true')),
    usage: { input: 3_000, output: most(request) },
  }))
  const { id } = await createRun(app, { prompt: 'x', model, budget: { max_cost_usd: '0.3' } })
  const run = await paused(app, id)
  expect(run.status_reason).toBe('budget')
  expect(app.model.requests.length).toBeGreaterThan(1)
  expect(Number(run.usage.cost_usd)).toBeLessThanOrEqual(0.3)
  expect(Number(run.usage.cost_usd)).toBeGreaterThan(0.25)
})

test('a call that broke off in the middle of its response is counted in addition to the successful one', async () => {
  await using app = await startCodingApp(
    (_request, n) =>
      n === 0 ? { stall: 'before_body' } : { ...finish('At last.'), usage: { input: 2_000, output: 100 } },
    { AGENTRUN_MODEL_FIRST_BYTE_SECONDS: '1' },
  )
  const { id } = await createRun(app, { prompt: 'x', model })
  const { usage } = await awaitEnd(app, id)
  const responded = 2_000 * PRICED.input + 100 * PRICED.output
  expect(Number(usage.cost_usd)).toBeGreaterThan(responded + 1_000 * PRICED.output)
  expect(usage.output_tokens).toBe(1_100)
  expect((await rows(app, 'select reserved_usd from runs where id = $1', [id]))[0]).toEqual({
    reserved_usd: '0',
  })
})

test('a call that is cut off before its first token is counted', async () => {
  await using app = await startCodingApp((_request, n) =>
    n === 0
      ? { raw: [': it begins\n\n'], after: 'cut' }
      : { ...finish('At last.'), usage: { input: 2_000, output: 100 } },
  )
  const { id } = await createRun(app, { prompt: 'x', model })
  expect((await awaitEnd(app, id)).usage.output_tokens).toBe(1_100)
})

test('a refusal of the provider costs nothing', async () => {
  await using app = await startCodingApp((_request, n) =>
    n < 2
      ? { status: n === 0 ? 429 : 503, headers: { 'retry-after': '0' }, body: {} }
      : { ...finish('Now.'), usage: { input: 2_000, output: 100 } },
  )
  const { id } = await createRun(app, { prompt: 'x', model })
  expect((await awaitEnd(app, id)).usage).toMatchObject({
    input_tokens: 2_000,
    output_tokens: 100,
    cost_usd: '0.00195',
  })
})

test('a model of unknown price is limited by steps, not by its unknown cost', async () => {
  await using app = await startCodingApp(() => calls(shell('true')))
  const { id } = await createRun(app, { prompt: 'x', budget: { max_cost_usd: '0.000001', max_steps: 2 } })
  expect(await paused(app, id)).toMatchObject({
    status_reason: 'budget',
    usage: { cost_usd: null },
    error: { message: expect.stringMatching(/2 steps/) },
  })
})

test("an organization's monthly budget is checked before each call, together with the reservations of its other runs", async () => {
  const first = Promise.withResolvers<void>()
  await using app = await startCodingApp(async (_request, n) => {
    if (n === 0) await first.promise
    return { ...finish('Paid.'), usage: { input: 2_000, output: 100 } }
  })
  await app.call('PATCH', `/v1/organizations/${app.org_id}`, { budget_usd_per_month: 0.25 })
  const one = await createRun(app, { prompt: 'one', model })
  await expect.poll(() => app.model.requests.length).toBe(1)
  const two = await createRun(app, { prompt: 'two', model })
  const held = await paused(app, two.id)
  expect(held).toMatchObject({ status_reason: 'budget', usage: { cost_usd: '0' } })
  expect(held.error.message).toMatch(
    /has cost 0 US dollars .* up to 0\.4\d+ more, of 0\.25 .*budget_usd_per_month/,
  )
  first.resolve()
  expect(await awaitEnd(app, one.id)).toMatchObject({ status: 'completed' })
  await resume(app, two.id, {})
  expect(await awaitEnd(app, two.id)).toMatchObject({ status: 'completed', turn: 1 })
  expect(app.model.requests).toHaveLength(2)
})

test('steps, cost and active time accumulate over all owners of a turn', async () => {
  await using app = await startCodingApp(() => calls(shell('sleep 0.3')))
  const { id } = await createRun(app, { prompt: 'x', budget: { max_steps: 4 } })
  await awaitRun(app, id, run => run.total_logs >= 4)
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/pause`, { agent_run_id: id })
  const before = await paused(app, id)
  await resume(app, id, {})
  const run = await awaitRun(app, id, now => now.status === 'paused' && now.status_reason === 'budget')
  expect((await rows(app, 'select steps from runs where id = $1', [id]))[0]).toEqual({ steps: 4 })
  expect(run.usage.active_seconds).toBeGreaterThan(before.usage.active_seconds)
  const [time] = await rows<{ same: boolean }>(
    app,
    'select turn_active_ms = active_ms as same from runs where id = $1',
    [id],
  )
  expect(time).toEqual({ same: true })
})

test('each near limit is reported once, to the agent and to viewers, and not as an entry of the trace', async () => {
  await using app = await startCodingApp((_request, n) =>
    n < 4 ? calls(shell(`echo ${n}`)) : { text: 'Wrapped up.' },
  )
  const { id } = await createRun(app, { prompt: 'x', budget: { max_steps: 5 } })
  const passing: unknown[] = []
  for await (const { event, data } of followRun(app, id)) {
    if (event === 'notice') passing.push(data)
    if (event === 'run' && data.terminal) break
  }
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Wrapped up.' })
  const notices = app.model.requests.map(
    ({ body }) => JSON.stringify(body).split('budget max_steps: 4 of 5').length - 1,
  )
  expect(notices).toEqual([0, 0, 0, 0, 1])
  const events = await rows<{ body: string }>(
    app,
    `select body from events where run_id = $1 and type = 'agent_run.limits_near'`,
    [id],
  )
  expect(events.map(({ body }) => JSON.parse(body))).toEqual([
    { limits: [{ limit: 'budget max_steps', level: 'last', used: 4, allowed: 5 }] },
  ])
  expect(passing).toEqual(events.map(({ body }) => JSON.parse(body)))
  const logs = await allLogs(app, id)
  expect(JSON.stringify(logs)).not.toContain('Wrap up')
  // A fork has limits of its own.
  const { body } = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/fork`, {
    agent_run_id: id,
    from_seq: logs.length,
  })
  await awaitEnd(app, body.id)
  const forked = JSON.stringify(app.model.requests.at(-1)?.body)
  expect(forked).toContain('Wrapped up.')
  expect(forked).not.toContain('budget max_steps')
})
