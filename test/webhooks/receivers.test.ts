import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { WebhookConfig } from '../../src/contract/webhooks/webhooks.ts'
import { FAILURES_TO_REST } from '../../src/core/webhooks/webhook-retries.ts'
import { signatureHeader } from '../../src/core/webhooks/webhook-signature.ts'
import { addOrganization } from '../api/access/second-organization.ts'
import { createRun } from '../runs/await-run.ts'
import { type App, rows } from '../start-app.ts'
import { type ReceivedDelivery, type Receiver, startReceiver } from './receiver.ts'
import {
  deliveriesOf,
  hook,
  hurry,
  setHook,
  shareWebhookApp,
  startWebhookApp,
  untilDeliveries,
} from './webhook-app.ts'

let app: App
let receiver: Receiver
shareWebhookApp(shared => {
  ;({ app, receiver } = shared)
})

const config = async () => WebhookConfig.strict().parse((await app.call('GET', hook(app))).body)
const only = { events: ['agent_run.created'] }
const settled = ({ state, attempts, error }: { state: string; attempts: number; error: string | null }) => ({
  state,
  attempts,
  error,
})

describe('the rotation of a secret', () => {
  const signs = (one: ReceivedDelivery | undefined, secrets: string[]) => {
    const {
      'webhook-id': id = '',
      'webhook-timestamp': time = '',
      'webhook-signature': signature,
    } = one?.headers ?? {}
    expect(signature).toBe(
      secrets.length === 0 ? undefined : signatureHeader(secrets, id, Number(time), one?.body ?? ''),
    )
  }
  const secret = () => `whsec_${randomBytes(24).toString('base64')}`
  const reported = async () => {
    const before = receiver.received.length
    await createRun(app, { prompt: 'Look' })
    return (await receiver.until(before + 1)).at(-1)
  }

  test('keeps the old secret for a day, the newest first; without a secret both are kept, with null there is none', async () => {
    const [a, b] = [secret(), secret()]
    await setHook(app, receiver.url, { ...only, secret: a })
    signs(await reported(), [a])
    expect((await config()).previous_secret_until).toBeNull()
    await setHook(app, receiver.url, { ...only, secret: b })
    signs(await reported(), [b, a])
    const until = Date.parse((await config()).previous_secret_until ?? '')
    expect(Math.abs(until - Date.now() - 86_400_000)).toBeLessThan(600_000)
    await setHook(app, receiver.url, only)
    signs(await reported(), [b, a])
    await rows(app, `update webhooks set previous_until = now()`)
    signs(await reported(), [b])
    await setHook(app, receiver.url, { ...only, secret: null })
    signs(await reported(), [])
    expect(await config()).toMatchObject({ has_secret: false, previous_secret_until: null })
  })

  test('a test is signed for the organization’s own address and for no other', async () => {
    const a = secret()
    await setHook(app, receiver.url, { ...only, secret: a })
    expect((await app.call('POST', `${hook(app)}/test`, { url: receiver.url })).body).toMatchObject({
      delivered: true,
      status: 204,
      signed: true,
    })
    signs(receiver.received[0], [a])
    expect(receiver.received[0]?.message).toMatchObject({
      type: 'webhook.test',
      data: { organization_id: app.org_id },
    })
    await using other = await startReceiver(500)
    expect((await app.call('POST', `${hook(app)}/test`, { url: other.url })).body).toMatchObject({
      delivered: false,
      status: 500,
      signed: false,
    })
    signs(other.received[0], [])
  })
})

describe('a receiver that is away', () => {
  test('F122 rests after failures in a row, is tried with one message, and gets all waiting ones when it is back', async () => {
    receiver.responses = [503]
    await setHook(app, receiver.url, only)
    const ids: number[] = []
    for (let n = 0; n < FAILURES_TO_REST; n++) ids.push((await createRun(app, { prompt: 'Look' })).id)
    await untilDeliveries(
      app,
      all =>
        all.filter(({ attempts, last_status }) => attempts === 1 && last_status === 503).length ===
        FAILURES_TO_REST,
    )
    const { failures, rests_until } = await config()
    expect({ failures, rests: Date.parse(rests_until ?? '') > Date.now() }).toEqual({
      failures: FAILURES_TO_REST,
      rests: true,
    })
    // It rests: what comes now is not tried.
    for (let n = 0; n < 3; n++) ids.push((await createRun(app, { prompt: 'Look' })).id)
    await rows(app, `select pg_notify('agentrun_webhook', '')`)
    expect((await deliveriesOf(app)).filter(({ attempts }) => attempts === 0)).toHaveLength(3)
    // The rest is over and it is back: one gets through, and nothing else needs to be hurried.
    receiver.responses = [204]
    receiver.received.splice(0)
    await rows(
      app,
      `update webhook_deliveries
        set next_attempt_at = now() + interval '1 hour'
        where attempts > 0`,
    )
    await rows(app, 'update webhooks set rests_until = now()')
    await rows(app, `select pg_notify('agentrun_webhook', '')`)
    const received = await receiver.until(ids.length)
    expect(received.map(({ message }) => message.data.agent_run_id).toSorted((a, b) => a - b)).toEqual(ids)
    await untilDeliveries(app, all => all.every(({ state }) => state === 'delivered'))
    expect(await config()).toMatchObject({ failures: 0, rests_until: null, enabled: true })
  })

  test('while it fails only one attempt is under way at a time', async () => {
    let [now, most] = [0, 0]
    receiver.responses = [
      (request, response) => {
        most = Math.max(most, ++now)
        request.socket.once('close', () => now--)
        setImmediate(() => response.writeHead(503).end())
      },
    ]
    await setHook(app, receiver.url, only)
    await rows(app, 'update webhooks set failures = $1', [FAILURES_TO_REST])
    for (let n = 0; n < 12; n++) await createRun(app, { prompt: 'Look' })
    for (let n = 0; n < 5; n++) {
      await rows(app, 'update webhooks set rests_until = null')
      await rows(app, `select pg_notify('agentrun_webhook', '')`)
      await untilDeliveries(app, all => all.filter(({ last_status }) => last_status === 503).length === n + 1)
    }
    expect(most).toBe(1)
  })

  test('is given up after a day, with a last attempt, and switched off with a notice; set again, it is on', async () => {
    receiver.responses = [503]
    await setHook(app, receiver.url, only)
    await createRun(app, { prompt: 'Look' })
    await untilDeliveries(app, ([one]) => one?.last_status === 503)
    await rows(
      app,
      `update webhook_deliveries
      set give_up_at = now(), created_at = now() - interval '1 day'`,
    )
    await hurry(app)
    const [one] = await untilDeliveries(app, all => all[0]?.state === 'failed')
    expect(one).toMatchObject({ attempts: 2, error: 'it responded with 503', next_attempt_at: null })
    expect(await config()).toMatchObject({
      enabled: false,
      disabled_reason: 'nothing could be delivered for 24 hours',
      disabled_at: expect.any(String),
    })
    expect(
      await rows(app, `select user_id, detail from audit_entries where action = 'webhook.disabled'`),
    ).toEqual([{ user_id: null, detail: expect.stringContaining('"reason":"nothing could be delivered') }])
    expect(app.logs).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'a webhook was switched off' }),
    )
    await createRun(app, { prompt: 'Look' })
    expect(await deliveriesOf(app)).toHaveLength(1)
    await setHook(app, receiver.url, only)
    expect(await config()).toMatchObject({ enabled: true, disabled_at: null, disabled_reason: null })
  })

  test('one undeliverable message is given up alone when others were delivered meanwhile', async () => {
    receiver.responses = [
      (_request, response, { message }) => response.writeHead(message.data.title === 'bad' ? 500 : 204).end(),
    ]
    await setHook(app, receiver.url, only)
    await createRun(app, { prompt: 'Look', title: 'bad' })
    await untilDeliveries(app, ([one]) => one?.last_status === 500)
    await createRun(app, { prompt: 'Look', title: 'good' })
    await untilDeliveries(app, all => all[0]?.state === 'delivered')
    await rows(app, `update webhook_deliveries set give_up_at = now() where state = 'pending'`)
    await hurry(app)
    await untilDeliveries(app, all => all[1]?.state === 'failed')
    expect((await config()).enabled).toBe(true)
  })
})

test('F122 410 switches the webhook off at once; what a run names alone is given up', async () => {
  receiver.responses = [410]
  await setHook(app, receiver.url, only)
  await createRun(app, { prompt: 'Look', webhooks: [{ url: receiver.url }] })
  const [of_run] = await untilDeliveries(app, all => all[0]?.state === 'failed')
  expect(settled(of_run as never)).toEqual({ state: 'failed', attempts: 1, error: 'it responded with 410' })
  expect((await config()).enabled).toBe(true)
  await createRun(app, { prompt: 'Look' })
  await untilDeliveries(app, all => all[0]?.state === 'failed' && all[0].url === null)
  expect(await config()).toMatchObject({ enabled: false, disabled_reason: expect.stringContaining('410') })
})

test('F122 429 is retried no earlier than requested', async () => {
  receiver.responses = [(_request, response) => response.writeHead(429, { 'retry-after': '1000' }).end()]
  await setHook(app, receiver.url, only)
  await createRun(app, { prompt: 'Look' })
  const [one] = await untilDeliveries(app, all => all[0]?.last_status === 429)
  expect(Date.parse(one?.next_attempt_at ?? '') - Date.now()).toBeGreaterThan(900_000)
})

describe('a webhook that is switched off', () => {
  test('gets the waiting deliveries when it is enabled again, in order', async () => {
    receiver.responses = [503]
    await setHook(app, receiver.url)
    const { id } = await createRun(app, { prompt: 'Look' })
    await untilDeliveries(app, ([one]) => one?.last_status === 503)
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })
    await setHook(app, receiver.url, { enabled: false })
    receiver.responses = [204]
    receiver.received.splice(0)
    await hurry(app)
    expect((await deliveriesOf(app)).map(({ state }) => state)).toEqual(['pending', 'pending', 'pending'])
    await setHook(app, receiver.url)
    expect((await receiver.until(3)).map(({ message }) => message.data.status)).toEqual([
      'queued',
      'cancelling',
      'cancelled',
    ])
  })

  test('a webhook that is deleted: waiting deliveries are not sent, and the ledger gives the reason', async () => {
    receiver.responses = [503]
    await setHook(app, receiver.url, only)
    await createRun(app, { prompt: 'Look' })
    await untilDeliveries(app, ([one]) => one?.last_status === 503)
    await app.call('DELETE', hook(app))
    expect((await deliveriesOf(app)).map(settled)).toEqual([
      { state: 'failed', attempts: 1, error: 'the webhook was deleted' },
    ])
  })
})

test('fault 36: a slow receiver holds up no other organization, and no run', async () => {
  const held: (() => void)[] = []
  await using slow = await startReceiver((_request, response) =>
    held.push(() => response.writeHead(204).end()),
  )
  const { org_id, token } = await addOrganization(app, 'slow')
  const auth = { authorization: `Bearer ${token}` }
  await app.call('POST', `/v1/organizations/${org_id}/webhooks/agent-run`, { url: slow.url }, auth)
  const theirs = { prompt: 'x', repoless: true, repo_id: null }
  for (let n = 0; n < 8; n++)
    expect((await app.call('POST', `/v1/organizations/${org_id}/agent/run`, theirs, auth)).status).toBe(200)
  await slow.until(4)
  await setHook(app, receiver.url, only)
  for (let n = 0; n < 8; n++) await createRun(app, { prompt: 'Look' })
  await receiver.until(8)
  // Four of its deliveries are in flight, without a response, and no more.
  expect(slow.received).toHaveLength(4)
  slow.responses = [204]
  for (const result of held) result()
  await slow.until(8)
})

test('a private address is refused where the operator does not allow it: it is given up immediately, with the reason', async () => {
  await using careful = await startWebhookApp({ AGENTRUN_ALLOW_PRIVATE_EGRESS: '0' })
  const run = await createRun(careful, { prompt: 'Look' })
  // As if its name had been a public one when it was set.
  await rows(
    careful,
    `insert into webhooks (organization_id, url, enabled, updated_by)
      values ($1, $2, true, $3)`,
    [...[careful.org_id, receiver.url, careful.user_id]],
  )
  await careful.call('POST', `/v1/organizations/${careful.org_id}/agent/run/stop`, { agent_run_id: run.id })
  const all = await untilDeliveries(
    careful,
    found => found.length === 2 && found.every(({ state }) => state === 'failed'),
  )
  for (const { error, attempts } of all)
    expect({ error, attempts }).toEqual({ error: expect.stringMatching(/^address not allowed/), attempts: 1 })
  expect(receiver.received).toEqual([])
})
