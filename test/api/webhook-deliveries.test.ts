import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebhookDelivery, WebhookDeliveryDetail, WebhookDeliveryPage } from '../../src/contract/webhook-deliveries.ts'
import { createRun } from '../runs/await-run.ts'
import { type App, rows } from '../start-app.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { setHook, startWebhookApp, untilDeliveries } from '../webhooks/webhook-app.ts'
import { contents } from './contents.ts'
import { expectProblem } from './expect-problem.ts'
import { addTenant, type Tenant } from './second-organization.ts'

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

const path = (rest = '', org_id = app.org_id) => `/v1/organizations/${org_id}/webhooks/agent-run/deliveries${rest}`
/** The delivery of a new run that was taken. */
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
    const list = async (query = '') => WebhookDeliveryPage.strict().parse((await app.call('GET', path(query))).body)
    expect((await list()).items.map(({ id }) => id)).toEqual([second.id, first.id])
    expect(await list('?limit=1&skip=1')).toMatchObject({ total: 2, page: 2, pages: 2, items: [{ id: first.id }] })
    expect((await list('?state=failed')).total).toBe(0)
    expect((await list('?state=delivered&type=agent_run.created')).total).toBe(2)
    expect((await list('?type=agent_run.finished')).total).toBe(0)
    expect((await list(`?agent_run_id=${first.agent_run_id}`)).items).toEqual([first])
  })

  test('one is shown with its message and each attempt', async () => {
    const { id } = await delivered()
    const { body } = await app.call('GET', path(`/${id}`))
    expect(WebhookDeliveryDetail.strict().parse(body)).toMatchObject({ id, log: [{ n: 1, status: 204, url: receiver.url }] })
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
    expect(await rows(app, `select detail from audit_entries where action = 'webhook.redelivered' order by id desc limit 1`)).toEqual([
      { detail: expect.stringContaining(`"delivery_id":${id}`) },
    ])
  })
})

describe('400', () => {
  test.each(['?state=sent', '?type=webhook.test', '?agent_run_id=x', '?limit=0', '/x'])('%s', async rest => {
    expectProblem(await app.call('GET', path(rest)), 400)
  })
})

describe('403', () => {
  test('another organization', async () => {
    expectProblem(await app.call('GET', path('', other.org_id)), 403)
    expectProblem(await app.call('GET', path(`/${other.delivery_id}`, other.org_id)), 403)
    expectProblem(await app.call('POST', path(`/${other.delivery_id}/redeliver`, other.org_id)), 403)
  })
})

describe('404', () => {
  test('one that is not there, or another organization’s, and nothing is written', async () => {
    const before = await contents(app)
    for (const id of [424_242, other.delivery_id]) {
      expectProblem(await app.call('GET', path(`/${id}`)), 404)
      expectProblem(await app.call('POST', path(`/${id}/redeliver`)), 404)
    }
    expect(await contents(app)).toEqual(before)
  })
})

describe('409', () => {
  test('there is nobody to send it to: the webhook is switched off or gone', async () => {
    const { id } = await delivered()
    await setHook(app, receiver.url, { enabled: false })
    expectProblem(await app.call('POST', path(`/${id}/redeliver`)), 409)
    await app.call('DELETE', `/v1/organizations/${app.org_id}/webhooks/agent-run`)
    const before = await contents(app)
    expectProblem(await app.call('POST', path(`/${id}/redeliver`)), 409)
    expect(await contents(app)).toEqual(before)
  })

  test('the run does not name the address any more', async () => {
    const run = await createRun(app, { prompt: 'Look', webhooks: [{ url: receiver.url }] })
    const [one] = await untilDeliveries(app, all => all[0]?.state === 'delivered')
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id: run.id, prompt: 'x', webhooks: [] })
    expectProblem(await app.call('POST', path(`/${one?.id}/redeliver`)), 409)
  })
})
