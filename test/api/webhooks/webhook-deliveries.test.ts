import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  RedeliveredFailed,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookDeliveryPage,
} from '../../../src/contract/webhooks/webhook-deliveries.ts'
import { MAX_PENDING } from '../../../src/store/webhooks/webhook-deliveries.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows } from '../../start-app.ts'
import { type Receiver, startReceiver } from '../../webhooks/receiver.ts'
import { setHook, startWebhookApp, untilDeliveries } from '../../webhooks/webhook-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let other: Tenant
let receiver: Receiver
beforeAll(async () => {
  app = await startWebhookApp()
  other = await addTenant(app)
  receiver = await startReceiver()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await rows(app, 'delete from webhook_deliveries where organization_id = $1', [app.org_id])
  receiver.received.splice(0)
})

const path = (rest = '', org_id = app.org_id) =>
  `/v1/organizations/${org_id}/webhooks/agent-run/deliveries${rest}`
/** The accepted delivery of a new run. */
async function delivered(): Promise<WebhookDelivery> {
  await setHook(app, receiver.url, { events: ['agent_run.created'] })
  const { id } = await createRun(app, { prompt: 'Look' })
  const [one] = await untilDeliveries(app, all => all[0]?.state === 'delivered', `?agent_run_id=${id}`)
  if (!one) throw new Error('none')
  return one
}

describe('200', () => {
  test('the list is by page, newest first, and narrowed by state, event and run', async () => {
    const [first, second] = [await delivered(), await delivered()]
    const list = async (query = '') =>
      WebhookDeliveryPage.strict().parse((await app.call('GET', path(query))).body)
    expect((await list()).items.map(({ id }) => id)).toEqual([second.id, first.id])
    expect(await list('?limit=1&skip=1')).toMatchObject({
      total: 2,
      page: 2,
      pages: 2,
      items: [{ id: first.id }],
    })
    expect((await list('?state=failed')).total).toBe(0)
    expect((await list('?state=delivered&type=agent_run.created')).total).toBe(2)
    expect((await list('?state=failed,delivered&type=agent_run.created&type=agent_run.deleted')).total).toBe(
      2,
    )
    expect((await list('?type=agent_run.finished')).total).toBe(0)
    expect((await list(`?agent_run_id=${first.agent_run_id}`)).items).toEqual([first])
  })

  test('one is shown with its message and each attempt', async () => {
    const { id } = await delivered()
    const { body } = await app.call('GET', path(`/${id}`))
    expect(WebhookDeliveryDetail.strict().parse(body)).toMatchObject({
      id,
      log: [{ n: 1, status: 204, url: receiver.url }],
    })
  })

  test('redeliver: sent again with the same id and the same body, and it is in the audit log', async () => {
    const { id } = await delivered()
    const { status, body } = await app.call('POST', path(`/${id}/redeliver`))
    expect({ status, body: WebhookDelivery.strict().parse(body) }).toMatchObject({
      status: 200,
      body: { id, state: 'pending', error: null },
    })
    const [before, again] = await receiver.until(2)
    expect(again?.headers['webhook-id']).toBe(before?.headers['webhook-id'])
    expect(again?.body).toBe(before?.body)
    await untilDeliveries(app, ([one]) => one?.state === 'delivered' && one.attempts === 2)
    expect(
      await rows(
        app,
        `select detail
          from audit_entries
          where action = 'webhook.redelivered'
          order by id desc
          limit 1`,
      ),
    ).toEqual([{ detail: expect.stringContaining(`"delivery_id":${id}`) }])
  })
})

describe('200, failed deliveries', () => {
  const again = async (body: Record<string, unknown> = {}) => {
    const { status, body: counts } = await app.call('POST', path('/redeliver'), body)
    return { status, ...RedeliveredFailed.strict().parse(counts) }
  }
  /** Runs whose deliveries all failed, one hour apart. */
  async function failed(count: number): Promise<number[]> {
    await setHook(app, receiver.url)
    const ids: number[] = []
    for (let i = 0; i < count; i++) {
      const { id } = await createRun(app, { prompt: 'Look' })
      await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })
      ids.push(id)
    }
    await untilDeliveries(
      app,
      all => all.length === 3 * count && all.every(({ state }) => state === 'delivered'),
    )
    const [first = 0] = ids
    await rows(
      app,
      `update webhook_deliveries
        set state = 'failed', error = 'x',
          created_at = '2026-11-20T10:00:00Z'::timestamptz + (run_id - $2) * interval '1 hour'
        where organization_id = $1`,
      [app.org_id, first],
    )
    receiver.received.splice(0)
    return ids
  }
  const sent = () => receiver.received.map(({ message }) => `${message.data.agent_run_id} ${message.type}`)
  const everything = (id: number) => ['created', 'status', 'finished'].map(type => `${id} agent_run.${type}`)

  test('redeliver failed ones: by time, event or run; each run in order, and the counts report the rest', async () => {
    const [one = 0, two = 0, three = 0] = await failed(3)
    const window = { since: '2026-11-20T12:00:00+01:00', until: '2026-11-20T12:00:00Z' }
    expect(await again(window)).toEqual({ status: 200, queued: 3, remaining: 0, without_recipient: 0 })
    await receiver.until(3)
    expect(sent()).toEqual(everything(two))
    expect(await again(window)).toMatchObject({ queued: 0 })
    expect(await again({ since: '2026-11-20T12:00:00Z', type: 'agent_run.finished' })).toMatchObject({
      queued: 1,
      remaining: 0,
    })
    await receiver.until(4)
    expect(sent()[3]).toBe(`${three} agent_run.finished`)
    expect(await again({ limit: 2 })).toMatchObject({ queued: 2, remaining: 3 })
    expect(await again({ limit: 2 })).toMatchObject({ queued: 2, remaining: 1 })
    expect(await again()).toMatchObject({ queued: 1, remaining: 0 })
    await receiver.until(9)
    for (const id of [one, three])
      expect(sent().filter(line => line.startsWith(`${id} `) && receiver.received.length === 9).length).toBe(
        3,
      )
    expect(sent().filter(line => line.startsWith(`${one} `))).toEqual(everything(one))
    expect(
      await rows(
        app,
        `select detail
          from audit_entries
          where action = 'webhook.redelivered'
          order by id desc
          limit 1`,
      ),
    ).toEqual([{ detail: expect.stringContaining('"count":1') }])
  })

  test('deliveries without a receiver are counted and kept; a full queue accepts no more', async () => {
    const [one = 0] = await failed(1)
    const target = { url: receiver.url, events: ['agent_run.created'] }
    const named = await createRun(app, { prompt: 'Look', webhooks: [target] })
    await untilDeliveries(app, ([newest]) => newest?.state === 'delivered')
    await rows(app, `update webhook_deliveries set state = 'failed' where run_id = $1`, [named.id])
    await rows(app, `update runs set webhooks = '[]' where id = $1`, [named.id])
    await setHook(app, receiver.url, { enabled: false })
    const before = await contents(app)
    expect(await again()).toEqual({ status: 200, queued: 0, remaining: 0, without_recipient: 4 })
    expect(await contents(app)).toEqual(before)
    await setHook(app, receiver.url)
    await rows(
      app,
      `insert into webhook_deliveries (organization_id, run_id, event_seq, type, body, state, give_up_at)
        select $1, $2, 1, 'agent_run.created', '{}', 'pending', now() + interval '1 day'
        from generate_series(1, $3)`,
      [app.org_id, named.id, MAX_PENDING - 1],
    )
    expect(await again()).toMatchObject({ queued: 1, remaining: 2, without_recipient: 1 })
    await rows(app, `delete from webhook_deliveries where run_id = $1`, [named.id])
    await receiver.until(1, ({ message }) => message.data.agent_run_id === one)
  })
})

describe('400', () => {
  test.each([
    { since: '2026-11-20' },
    { until: 7 },
    { type: 'webhook.test' },
    { limit: 0 },
    { limit: 1_001 },
  ])('redeliver %j', async body => {
    expectProblem(await app.call('POST', path('/redeliver'), body), 400)
  })

  test.each(['?state=sent', '?type=webhook.test', '?agent_run_id=x', '?limit=0', '/x'])('%s', async rest => {
    expectProblem(await app.call('GET', path(rest)), 400)
  })
})

describe('403', () => {
  test('another organization', async () => {
    expectProblem(await app.call('GET', path('', other.org_id)), 403)
    expectProblem(await app.call('GET', path(`/${other.delivery_id}`, other.org_id)), 403)
    expectProblem(await app.call('POST', path(`/${other.delivery_id}/redeliver`, other.org_id)), 403)
    expectProblem(await app.call('POST', path('/redeliver', other.org_id), {}), 403)
  })
})

describe('404', () => {
  test('a nonexistent one, or another organization’s, and nothing is written', async () => {
    const before = await contents(app)
    for (const id of [424_242, other.delivery_id]) {
      expectProblem(await app.call('GET', path(`/${id}`)), 404)
      expectProblem(await app.call('POST', path(`/${id}/redeliver`)), 404)
    }
    expect(await contents(app)).toEqual(before)
  })
})

describe('409', () => {
  test('there is no receiver: the webhook is disabled or deleted', async () => {
    const { id } = await delivered()
    await setHook(app, receiver.url, { enabled: false })
    expectProblem(await app.call('POST', path(`/${id}/redeliver`)), 409)
    await app.call('DELETE', `/v1/organizations/${app.org_id}/webhooks/agent-run`)
    const before = await contents(app)
    expectProblem(await app.call('POST', path(`/${id}/redeliver`)), 409)
    expect(await contents(app)).toEqual(before)
  })

  test('the run no longer names the address', async () => {
    const run = await createRun(app, { prompt: 'Look', webhooks: [{ url: receiver.url }] })
    const [one] = await untilDeliveries(app, all => all[0]?.state === 'delivered')
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
      agent_run_id: run.id,
      prompt: 'x',
      webhooks: [],
    })
    expectProblem(await app.call('POST', path(`/${one?.id}/redeliver`)), 409)
  })
})
