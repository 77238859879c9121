import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { FAILURES_TO_REST } from '../../src/core/webhooks/webhook-retries.ts'
import { insertEvent } from '../../src/store/runs/organization-events.ts'
import { claimDeliveries } from '../../src/store/webhooks/webhook-deliveries.ts'
import {
  holdEvents,
  type Settlement,
  scheduleNext,
  settleDelivery,
} from '../../src/store/webhooks/webhook-outcomes.ts'
import { createRun } from '../runs/await-run.ts'
import { type App, rows } from '../start-app.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { setHook, startWebhookApp } from './webhook-app.ts'

let app: App
let second: App
let receiver: Receiver
let run_id: number
beforeAll(async () => {
  app = await startWebhookApp()
  second = await startWebhookApp({ DATABASE_URL: app.database_url })
  receiver = await startReceiver()
  run_id = (await createRun(app, { prompt: 'Look' })).id
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await rows(app, 'delete from webhook_deliveries')
  await rows(app, 'delete from webhooks')
  receiver.received.splice(0)
})

const event = () =>
  app.db.transaction(tx => insertEvent(tx, app.org_id, run_id, 'agent_run.status', { status: 'running' }))
/** A webhook that no process sends to by itself: each test does what a process would. */
const hookThatRests = () =>
  rows(
    app,
    `insert into webhooks (organization_id, url, enabled, updated_by, rests_until)
      values ($1, $2, true, $3, 'infinity')`,
    [...[app.org_id, receiver.url, app.user_id]],
  )
/** Claims due deliveries, without concurrent claims at this moment. */
async function claim() {
  const all = await app.db.transaction(async tx => {
    await tx.query({ text: 'update webhooks set rests_until = null' })
    const claimed = await claimDeliveries(tx, 100, FAILURES_TO_REST)
    await tx.query({ text: `update webhooks set rests_until = 'infinity'` })
    return claimed
  })
  return all
}
const taken: Settlement = {
  to: 'delivered',
  seconds: 0,
  url: 'u',
  status: 204,
  error: null,
  latency_ms: 1,
  answer: '',
}
const states = () =>
  rows<{ state: string; due: boolean }>(
    app,
    `select state, next_attempt_at is not null as due
      from webhook_deliveries
      order by id`,
  )

test('events that arrive as fast as they are delivered by two processes: each is sent once, in order, and none is left', async () => {
  await setHook(app, receiver.url)
  const seqs: number[] = []
  for (let n = 0; n < 150; n++) seqs.push(await event())
  const received = await receiver.until(150, undefined, 60_000)
  expect(received.map(({ message }) => message.data.event_seq)).toEqual(seqs)
})

test('an event that is written while the one before it is settled is not lost, in either order', async () => {
  await hookThatRests()
  await event()
  const [first] = await claim()
  if (!first) throw new Error('nothing was due')
  const settle = () =>
    app.db.transaction(async tx => {
      await holdEvents(tx, app.org_id)
      await settleDelivery(tx, first, taken)
      await scheduleNext(tx, app.org_id, run_id, null)
    })
  // The event's transaction is open, and has seen that the one before it waits.
  let settled: Promise<void> = Promise.resolve()
  await app.db.transaction(async tx => {
    await insertEvent(tx, app.org_id, run_id, 'agent_run.status', { status: 'running' })
    settled = settle()
    for (;;) {
      const waiting = await rows(
        app,
        `select 1
          from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%for no key update%'`,
      )
      if (waiting.length > 0) break
    }
  })
  await settled
  expect(await states()).toEqual([
    { state: 'delivered', due: false },
    { state: 'pending', due: true },
  ])
})

test('a delivery behind a waiting one has no due time, and no process claims it', async () => {
  await hookThatRests()
  for (let n = 0; n < 3; n++) await event()
  expect((await claim()).map(({ n }) => n)).toEqual([1])
  expect(await claim()).toEqual([])
  expect((await states()).map(({ due }) => due)).toEqual([true, false, false])
})

test('a process that was frozen until another one took its delivery records nothing of it', async () => {
  await hookThatRests()
  await event()
  const [frozen] = await claim()
  await rows(app, 'update webhook_deliveries set lease_until = now()')
  const [next] = await claim()
  if (!frozen || !next) throw new Error('nothing was due')
  expect([frozen.epoch, next.epoch, next.n]).toEqual([1, 2, 2])
  const before = await rows(app, 'select * from webhook_deliveries, webhook_attempts')
  expect(await settleDelivery(app.db, frozen, taken)).toBeUndefined()
  expect(await rows(app, 'select * from webhook_deliveries, webhook_attempts')).toEqual(before)
  expect(await settleDelivery(app.db, next, { ...taken, to: 'failed' })).toBe('failed')
  expect(await settleDelivery(app.db, next, taken)).toBeUndefined()
})

test('an event whose transaction is rolled back is not sent', async () => {
  await setHook(app, receiver.url)
  const undone = app.db.transaction(async tx => {
    await insertEvent(tx, app.org_id, run_id, 'agent_run.status', { status: 'failed' })
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  await event()
  const [only] = await receiver.until(1)
  expect(only?.message).toMatchObject({ type: 'agent_run.status', data: { change: { status: 'running' } } })
  expect(await states()).toHaveLength(1)
})
