import { afterAll, beforeAll, expect, test } from 'vitest'
import { takeMessages } from '../../../src/store/runs/messages.ts'
import type { RunRow } from '../../../src/store/runs/runs.ts'
import { RunWriter } from '../../../src/worker/claim/run-writer.ts'
import type { WorkerServices } from '../../../src/worker/services.ts'
import { writeOutcome } from '../../../src/worker/turns/write-outcome.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { putRun } from './put-run.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const post = (name: string, body: unknown, headers?: Record<string, string>) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/${name}`, body, headers)
const resume = (body: unknown) => post('resume', body)
const newRun = async (status: Parameters<typeof putRun>[2]) => {
  const { id } = await createRun(app, { prompt: 'first' })
  await putRun(app, id, status)
  return id as number
}
const messages = (id: number) =>
  rows(
    app,
    `select seq, turn, mode, text
    from messages
    where run_id = $1 and seq > 1
    order by id`,
    [id],
  )
/** The last action of the worker of the run. */
const settle = async (id: number) => {
  const [run] = await rows<{ organization_id: number; id: number; epoch: number }>(
    app,
    'select organization_id, id, epoch from runs where id = $1',
    [id],
  )
  if (!run) throw new Error(`no run ${id}`)
  const writer = new RunWriter(app.db, run)
  await writeOutcome(
    { db: app.db, queue_seconds: 3_600 } as unknown as WorkerServices,
    writer,
    run as RunRow,
    {
      kind: 'stop',
    },
  )
  writer.close()
  return (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body
}
const stop = async (id: number) =>
  expect(await post('stop', { agent_run_id: id })).toMatchObject({ status: 200 })

test('a run that is being stopped stays cancelling, and gets one new turn with every follow-up when its worker has released it', async () => {
  const id = await newRun('cancelling')
  for (const prompt of ['go on', 'and this'])
    expect(await resume({ agent_run_id: id, prompt })).toMatchObject({
      status: 200,
      body: { status: 'cancelling', turn: 1 },
    })
  expect((await messages(id)).slice(-2)).toEqual([
    { seq: 2, turn: 2, mode: 'enqueue', text: 'go on' },
    { seq: 3, turn: 2, mode: 'enqueue', text: 'and this' },
  ])
  expect(await settle(id)).toMatchObject({
    status: 'queued',
    turn: 2,
    terminal: false,
    stop_requested_at: null,
    finished_at: null,
  })
  const events = await rows<{ body: string }>(
    app,
    `select body
      from events
      where run_id = $1 and type = 'agent_run.status'
      order by seq`,
    [id],
  )
  expect(events.slice(-2).map(({ body }) => JSON.parse(body).status)).toEqual(['cancelled', 'queued'])
  await putRun(app, id, 'running')
  const [run] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [id])
  expect((await takeMessages(app.db, app.org_id, id, run?.epoch ?? 0)).map(({ text }) => text)).toEqual([
    'first',
    'go on',
    'and this',
  ])
})

test('stop, resume, stop: it is cancelled and stays cancelled; the follow-up is kept for the next resume', async () => {
  const id = await newRun('cancelling')
  await resume({ agent_run_id: id, prompt: 'go on' })
  await stop(id)
  expect(await settle(id)).toMatchObject({ status: 'cancelled', turn: 1, terminal: true })
  expect(await resume({ agent_run_id: id, prompt: 'now' })).toMatchObject({
    status: 200,
    body: { status: 'queued', turn: 2 },
  })
  expect((await messages(id)).slice(-2).map(({ turn, text }) => [turn, text])).toEqual([
    [2, 'go on'],
    [2, 'now'],
  ])
})

test('a ban also withdraws the follow-up', async () => {
  const id = await newRun('cancelling')
  await resume({ agent_run_id: id, prompt: 'go on' })
  expect((await post('ban', { agent_run_id: id })).status).toBe(200)
  expect(await settle(id)).toMatchObject({ status: 'cancelled', banned: true })
})

test('a stop of the parent withdraws the follow-up to a child that is being stopped', async () => {
  const [parent, child] = [await newRun('running'), await newRun('cancelling')]
  await rows(app, `update runs set parent_run_id = $2, source_type = 'PARENT_RUN' where id = $1`, [
    child,
    parent,
  ])
  await resume({ agent_run_id: child, prompt: 'go on' })
  await stop(parent)
  expect(await settle(child)).toMatchObject({ status: 'cancelled' })
})

test('the same key is one follow-up', async () => {
  const id = await newRun('cancelling')
  const body = { agent_run_id: id, prompt: 'once' }
  for (const _ of [1, 2])
    expect((await post('resume', body, { 'idempotency-key': 'stopping-1' })).status).toBe(200)
  expect((await messages(id)).filter(({ text }) => text === 'once')).toHaveLength(1)
})
