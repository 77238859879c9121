import { describe, expect, test } from 'vitest'
import { FAILURES_TO_REST } from '../../src/core/webhooks/webhook-retries.ts'
import { claimDeliveries, MAX_PENDING } from '../../src/store/webhooks/webhook-deliveries.ts'
import { cleanUpDeliveries, LEDGER_DAYS } from '../../src/webhooks/clean-up.ts'
import { createRun } from '../runs/await-run.ts'
import { type App, rows, startApp } from '../start-app.ts'
import { metricsUrl, readMetrics, sampleOf } from '../telemetry/read-metrics.ts'
import type { Receiver } from './receiver.ts'
import { deliveriesOf, hook, hurry, setHook, shareWebhookApp, untilDeliveries } from './webhook-app.ts'

let app: App
let receiver: Receiver
shareWebhookApp(shared => {
  ;({ app, receiver } = shared)
})

const only = { events: ['agent_run.created'] }
/** Deliveries of a run that are not due yet, with the columns of `each`. */
const put = (run_id: number, count: number, each = '') =>
  rows(
    app,
    `insert into webhook_deliveries (
        organization_id, run_id, event_seq, type, body, state, give_up_at, next_attempt_at, finished_at
      )
      select $1, $2, n, 'agent_run.created', '{"agent_run_id":0}', 'pending', now() + interval '1 day',
        now() + interval '1 hour', null
      from generate_series(1, $3) n`,
    [app.org_id, run_id, count],
  ).then(() => (each === '' ? [] : rows(app, `update webhook_deliveries set ${each}`)))

/** A webhook to which nothing is sent. */
const restingHook = () =>
  rows(
    app,
    `insert into webhooks (organization_id, url, enabled, updated_by, rests_until)
      values ($1, $2, true, $3, 'infinity')`,
    [...[app.org_id, receiver.url, app.user_id]],
  )

describe('the queue of an organization', () => {
  test('is limited: further deliveries are in the ledger as failed, and can be sent from there', async () => {
    const run = await createRun(app, { prompt: 'Look' })
    await put(run.id, MAX_PENDING)
    await restingHook()
    const { id } = await createRun(app, { prompt: 'Look' })
    const [one] = await deliveriesOf(app, `?agent_run_id=${id}`)
    expect(one).toMatchObject({
      state: 'failed',
      error: 'the queue is full',
      attempts: 0,
      next_attempt_at: null,
    })
    await rows(app, `delete from webhook_deliveries where state = 'pending'`)
    receiver.received.splice(0)
    expect((await app.call('POST', `${hook(app)}/deliveries/${one?.id}/redeliver`)).status).toBe(200)
    expect((await receiver.until(1))[0]?.message.data.agent_run_id).toBe(id)
  })

  test('that is full and whose webhook is dead delays no other', async () => {
    const run = await createRun(app, { prompt: 'Look' })
    await restingHook()
    await put(run.id, MAX_PENDING, `next_attempt_at = now() - interval '1 hour'`)
    const other = await createRun(app, { prompt: 'Look', webhooks: [{ url: receiver.url }] })
    await receiver.until(1, one => one.message.data.agent_run_id === other.id)
    expect(await claimDeliveries(app.db, 100, FAILURES_TO_REST)).toEqual([])
  })
})

describe('the ledger', () => {
  test('deletes deliveries after a month, or earlier with a shorter retention of runs, with their attempts', async () => {
    const run = await createRun(app, { prompt: 'Look' })
    await put(
      run.id,
      3,
      `state = 'failed', next_attempt_at = null, finished_at = now() - make_interval(days => event_seq::int * 10 + 1)`,
    )
    await rows(
      app,
      `insert into webhook_attempts (organization_id, delivery_id, n)
        select organization_id, id, 1
        from webhook_deliveries`,
    )
    const kept = () =>
      rows<{ seq: number }>(app, 'select event_seq as seq from webhook_deliveries order by 1')
    const turn = () => rows(app, `delete from ticks where name = 'webhooks'`)
    await turn()
    await cleanUpDeliveries(app, null)
    expect((await kept()).map(({ seq }) => seq)).toEqual([1, 2])
    await turn()
    await cleanUpDeliveries(app, LEDGER_DAYS - 10)
    expect((await kept()).map(({ seq }) => seq)).toEqual([1])
    expect(await rows(app, 'select count(*) as n from webhook_attempts')).toEqual([{ n: 1 }])
  })

  test('deliveries of a disabled webhook are given up after a day', async () => {
    const run = await createRun(app, { prompt: 'Look' })
    await setHook(app, receiver.url, { enabled: false })
    await put(run.id, 2, 'give_up_at = now() - make_interval(secs => 1) where event_seq = 1')
    await rows(app, `delete from ticks where name = 'webhooks'`)
    await cleanUpDeliveries(app, null)
    expect((await deliveriesOf(app)).map(({ event_seq, state, error }) => [event_seq, state, error])).toEqual(
      [
        [2, 'pending', null],
        [1, 'failed', 'the webhook was switched off until it was too late'],
      ],
    )
    // Later deliveries do not wait behind it.
    await setHook(app, receiver.url)
    await untilDeliveries(app, all => all[0]?.state === 'delivered')
  })

  test('a run that is deleted takes its deliveries with it, sent or not', async () => {
    receiver.responses = [503]
    await setHook(app, receiver.url)
    const { id } = await createRun(app, { prompt: 'Look' })
    const { id: stays } = await createRun(app, { prompt: 'Look' })
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })
    await untilDeliveries(app, all => all.filter(({ last_status }) => last_status === 503).length === 2)
    expect((await app.call('DELETE', `/v1/organizations/${app.org_id}/agent/run/${id}`)).status).toBe(200)
    expect((await deliveriesOf(app, '?type=agent_run.created')).map(one => one.agent_run_id)).toEqual([stays])
    expect((await deliveriesOf(app, `?agent_run_id=${id}`)).map(one => one.type)).toEqual([
      'agent_run.deleted',
    ])
    receiver.responses = [204]
    await hurry(app)
    await untilDeliveries(app, all => all.every(({ state }) => state === 'delivered'))
  })
})

describe('what is sent and shown', () => {
  test('contains no value of a secret, also of one that was set later', async () => {
    await setHook(app, receiver.url)
    const value = 'a-value-that-nobody-else-is-to-see'
    const run = await createRun(app, { prompt: 'Look', title: `Use ${value}`, metadata: { key: value } })
    expect((await receiver.until(1))[0]?.body).toContain(value)
    await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/LATE`, { value })
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: run.id })
    const last = (await receiver.until(3))[2]
    expect(last?.body).not.toContain(value)
    expect(last?.message.data).toMatchObject({
      title: 'Use [redacted:LATE]',
      metadata: { key: '[redacted:LATE]' },
    })
    const [one] = await untilDeliveries(
      app,
      all => all.length === 3 && all.every(({ state }) => state === 'delivered'),
    )
    expect(JSON.stringify((await app.call('GET', `${hook(app)}/deliveries/${one?.id}`)).body)).not.toContain(
      value,
    )
    await app.call('DELETE', `/v1/organizations/${app.org_id}/secrets/LATE`)
  })

  test('a response that contains the signing secret, or a value, is stored without it', async () => {
    const secret = 'whsec_c2VjcmV0LW9mLXRoZS13ZWJob29r'
    receiver.responses = [(_request, response) => response.end(`you sent me ${secret}`)]
    await setHook(app, receiver.url, { ...only, secret })
    await createRun(app, { prompt: 'Look' })
    const [one] = await untilDeliveries(app, all => all[0]?.state === 'delivered')
    const { body } = await app.call('GET', `${hook(app)}/deliveries/${one?.id}`)
    expect(body.log[0].answer).toBe('you sent me [redacted:webhook_secret]')
    const tables = await rows<{ name: string }>(
      app,
      `select tablename as name from pg_tables where schemaname = 'public'`,
    )
    for (const { name } of tables)
      expect(await rows(app, `select 1 from ${name} t where strpos(t::text, $1) > 0`, [secret])).toEqual([])
    expect(JSON.stringify(app.logs)).not.toContain(secret)
  })

  test('a long answer of a run is truncated, with a notice; numbers are unchanged', async () => {
    await setHook(app, receiver.url)
    const run = await createRun(app, { prompt: 'Look', metadata: { n: 1.5 } })
    await rows(app, `update runs set result = repeat('é', 20000) where id = $1`, [run.id])
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: run.id })
    const { data } = (await receiver.until(3))[2]?.message ?? {}
    expect([data?.result.length, data?.result_truncated, data?.metadata]).toEqual([16_000, true, { n: 1.5 }])
  })
})

test('attempts are counted by outcome, and the queue length is reported', async () => {
  await using counted = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_ALLOW_PRIVATE_EGRESS: '1',
    AGENTRUN_METRICS_PORT: '0',
  })
  receiver.responses = [204, 503, 410]
  await setHook(counted, receiver.url, only)
  await createRun(counted, { prompt: 'Look' })
  await untilDeliveries(counted, all => all[0]?.state === 'delivered')
  await createRun(counted, { prompt: 'Look' })
  await untilDeliveries(counted, all => all[0]?.last_status === 503)
  await createRun(counted, { prompt: 'Look' })
  await untilDeliveries(counted, all => all[0]?.state === 'failed')
  const samples = await readMetrics(metricsUrl(counted))
  const attempts = ['delivered', 'failed', 'gone'].map(outcome =>
    sampleOf(samples, 'agentrun_webhook_attempts_total', { outcome }),
  )
  expect(attempts).toEqual([1, 1, 1])
  expect(sampleOf(samples, 'agentrun_webhooks_disabled_total')).toBe(1)
  expect(sampleOf(samples, 'agentrun_webhooks_pending')).toBe(1)
})
