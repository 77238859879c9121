import { expect, test } from 'vitest'
import type { SeenRequest } from '../../model/fake-server.ts'
import { calls, finish, PRICED, responses, shell } from '../coding-app.ts'
import { type Cluster, startCluster } from './cluster.ts'

/**
 * A message is durable before the response to it, and reaches the model once, regardless of worker failures
 * (specification.md#journal, #create-and-resume).
 */

const resume = (cluster: Cluster, agent_run_id: number, prompt: string, mode?: string) =>
  cluster.call('POST', '/run/resume', { agent_run_id, prompt, ...(mode && { mode }) })
const times = ({ body }: SeenRequest | { body: unknown }, text: string) =>
  JSON.stringify(body).split(text).length - 1
const requested = (cluster: Cluster, count: number) =>
  expect.poll(() => cluster.model.requests.length, { timeout: 30_000 }).toBe(count)
const last = (cluster: Cluster) => cluster.model.requests.at(-1) ?? { body: null }
const ended = (cluster: Cluster, id: number) => cluster.until(id, run => run.terminal)
const undelivered = (cluster: Cluster, id: number) =>
  cluster.rows('select mode, text from messages where run_id = $1 and delivered_at is null', [id])

test('a delivered message whose worker dies before the model responds is in the next call once', async () => {
  await using cluster = await startCluster((_request, n) =>
    n === 1 ? { stall: 'before_body' } : n === 0 ? calls(shell('sleep 1')) : { text: 'Heard.' },
  )
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'start' })
  await cluster.until(id, run => run.waiting_on === 'tool')
  expect((await resume(cluster, id, 'Mind the gap.')).status).toBe(200)
  await requested(cluster, 2)
  expect(times(last(cluster), 'Mind the gap.')).toBe(1)
  first.child.kill('SIGKILL')
  await cluster.start('work')
  expect(await ended(cluster, id)).toMatchObject({ status: 'completed', turn: 1, result: 'Heard.' })
  expect(times(last(cluster), 'Mind the gap.')).toBe(1)
  expect(await undelivered(cluster, id)).toEqual([])
}, 90_000)

test.each(['steer', 'interrupt'])(
  'a message by %s to a run whose worker is frozen reaches the next one, once',
  async mode => {
    await using cluster = await startCluster((_request, n) =>
      n === 0 ? calls(shell('sleep 12345')) : { text: 'Heard.' },
    )
    const frozen = await cluster.start('work')
    const { id } = await cluster.createRun({ prompt: 'start' })
    await cluster.until(id, run => run.waiting_on === 'tool')
    frozen.child.kill('SIGSTOP')
    expect(await resume(cluster, id, 'Mind the gap.', mode)).toMatchObject({
      status: 200,
      body: { status: 'running' },
    })
    await cluster.start('work')
    expect(await ended(cluster, id)).toMatchObject({ status: 'completed', turn: 1, result: 'Heard.' })
    expect(cluster.model.requests).toHaveLength(2)
    expect(times(last(cluster), 'Mind the gap.')).toBe(1)
    expect(
      await cluster.rows('select interrupt_requested, pending_messages from runs where id = $1', [id]),
    ).toEqual([{ interrupt_requested: false, pending_messages: 0 }])
  },
  90_000,
)

test('an enqueued message begins the next turn once, also when the worker of the current turn dies', async () => {
  await using cluster = await startCluster((_request, n) =>
    n === 0 ? { stall: 'before_body' } : finish(`Answer ${n}.`),
  )
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'one' })
  await requested(cluster, 1)
  await resume(cluster, id, 'And then two.', 'enqueue')
  first.child.kill('SIGKILL')
  await cluster.start('work')
  expect(await cluster.until(id, run => run.terminal && run.turn === 2)).toMatchObject({
    status: 'completed',
    result: 'Answer 2.',
  })
  expect(cluster.model.requests.map(request => times(request, 'And then two.'))).toEqual([0, 0, 1])
}, 90_000)

test('messages to a queued run are part of its first call, in the order in which they were sent', async () => {
  await using cluster = await startCluster(responses({ text: 'Both received.' }))
  const { id } = await cluster.createRun({ prompt: 'first words' })
  expect((await resume(cluster, id, 'second words')).body.status).toBe('queued')
  await cluster.start('work')
  expect(await ended(cluster, id)).toMatchObject({ status: 'completed', turn: 1 })
  expect(JSON.stringify(last(cluster).body)).toMatch(/first words.*second words/)
}, 60_000)

test('a message to a run that fails before it reads it is kept, and is in the first call after the resume', async () => {
  const hold = Promise.withResolvers<void>()
  await using cluster = await startCluster(async (_request, n) => {
    if (n > 0) return { text: 'Received at last.' }
    await hold.promise
    return { status: 401, body: { error: { message: 'no such key' } } }
  })
  await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'start' })
  await requested(cluster, 1)
  expect((await resume(cluster, id, 'Too late?')).status).toBe(200)
  hold.resolve()
  expect(await ended(cluster, id)).toMatchObject({ status: 'failed', status_reason: 'model_auth' })
  expect(await undelivered(cluster, id)).toEqual([{ mode: 'steer', text: 'Too late?' }])
  await resume(cluster, id, 'Go on.')
  expect(await cluster.until(id, run => run.terminal && run.turn === 2)).toMatchObject({
    status: 'completed',
    result: 'Received at last.',
  })
  expect(JSON.stringify(last(cluster).body)).toMatch(/Too late\?.*Go on\./)
}, 60_000)

test('a notice that limits are near is in the conversation once, also for the worker that takes over', async () => {
  await using cluster = await startCluster((_request, n) =>
    n < 3 ? calls(shell(`echo ${n}`)) : n === 3 ? { stall: 'before_body' } : { text: 'Wrapped up.' },
  )
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'start', budget: { max_steps: 4 } })
  await requested(cluster, 4)
  first.child.kill('SIGKILL')
  await cluster.start('work')
  expect(await ended(cluster, id)).toMatchObject({ status: 'completed', result: 'Wrapped up.' })
  expect(cluster.model.requests.map(request => times(request, 'budget max_steps: 3 of 4'))).toEqual([
    0, 0, 0, 1, 1,
  ])
}, 60_000)

/** Text and thinking of one call. */
const RESERVED = 48_000
/** What the estimate of a lost call has at least: more may have been on its way. */
const MIN_LOST_TOKENS = 1_000

test('a model call that was lost with its worker is counted by an estimate below its reservation, and its repetition too', async () => {
  await using cluster = await startCluster((_request, n) =>
    n === 0 ? { stall: 'before_body' } : { ...finish('Second time.'), usage: { input: 2_000, output: 100 } },
  )
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'think', model: PRICED.model })
  await requested(cluster, 1)
  const [set_aside] = await cluster.rows<{ reserved_usd: string }>(
    'select reserved_usd from runs where id = $1',
    [id],
  )
  first.child.kill('SIGKILL')
  await cluster.start('work')
  const run = await ended(cluster, id)
  expect(run).toMatchObject({ status: 'completed', result: 'Second time.' })
  const responded = 2_000 * PRICED.input + 100 * PRICED.output
  const lost = Number(run.usage.cost_usd) - responded
  expect(lost).toBeGreaterThan(MIN_LOST_TOKENS * PRICED.output)
  expect(lost).toBeLessThan(Number(set_aside?.reserved_usd))
  expect(run.usage.output_tokens).toBeGreaterThanOrEqual(MIN_LOST_TOKENS + 100)
  expect(run.usage.output_tokens).toBeLessThan(RESERVED + 100)
  // The same in the usage of the organization.
  const [day] = await cluster.rows<{ cost_usd: string }>(
    'select sum(cost_usd) as cost_usd from usage_days where run_id = $1',
    [id],
  )
  expect(Number(day?.cost_usd)).toBeCloseTo(Number(run.usage.cost_usd), 9)
}, 90_000)

test('a model call that was lost with its worker is also counted when the run is then stopped', async () => {
  await using cluster = await startCluster(() => ({ stall: 'before_body' }))
  const worker = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'think', model: PRICED.model })
  await requested(cluster, 1)
  worker.child.kill('SIGKILL')
  await cluster.call('POST', '/run/stop', { agent_run_id: id })
  const run = await ended(cluster, id)
  expect(run.status).toBe('cancelled')
  expect(run.usage.output_tokens).toBeGreaterThanOrEqual(MIN_LOST_TOKENS)
  expect(run.usage.output_tokens).toBeLessThan(RESERVED)
  expect(Number(run.usage.cost_usd)).toBeGreaterThan(MIN_LOST_TOKENS * PRICED.output)
}, 60_000)
