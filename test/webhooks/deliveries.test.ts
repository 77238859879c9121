import { describe, expect, test } from 'vitest'
import { WebhookDeliveryDetail } from '../../src/contract/webhooks/webhook-deliveries.ts'
import { WebhookDeletion, WebhookMessage } from '../../src/contract/webhooks/webhook-messages.ts'
import { signatureHeader } from '../../src/core/webhooks/webhook-signature.ts'
import { deleteEndedRuns } from '../../src/store/runs/retention.ts'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { type App, rows } from '../start-app.ts'
import { type Receiver, startReceiver } from './receiver.ts'
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

const stop = (id: number) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })
const deleted = ({ message }: { message: { type: string } }) => message.type === 'agent_run.deleted'
const types = (received: { message: WebhookMessage }[]) =>
  received.map(({ message }) => `${message.type} ${message.data.status}`)

test('the events of a run are sent as they happen, in order, and the ledger records them', async () => {
  await setHook(app, receiver.url)
  const run = await createRun(app, {
    prompt: 'Look',
    metadata: { ticket: 'A-1', n: 12345678901234567890n.toString() },
  })
  await stop(run.id)
  const received = await receiver.until(3)
  expect(types(received)).toEqual([
    'agent_run.created queued',
    'agent_run.status cancelling',
    'agent_run.finished cancelled',
  ])
  for (const { message } of received)
    expect(WebhookMessage.strict().parse(message).data.agent_run_id).toBe(run.id)
  const shown = (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${run.id}`)).body
  const { data } = received[2]?.message ?? {}
  for (const key of [
    'status',
    'terminal',
    'title',
    'metadata',
    'created_at',
    'finished_at',
    'usage',
    'web_url',
    'user_id',
    'repo_id',
  ] as const)
    expect({ [key]: data?.[key] }).toEqual({ [key]: shown[key] })
  expect(data?.seq).toBe(shown.total_logs)

  const deliveries = await untilDeliveries(
    app,
    all => all.length === 3 && all.every(({ state }) => state === 'delivered'),
  )
  const { status, body } = await app.call('GET', `${hook(app)}/deliveries/${deliveries[0]?.id}`)
  expect(status).toBe(200)
  const detail = WebhookDeliveryDetail.strict().parse(body)
  expect(detail.message).toEqual(received[2]?.message)
  expect(detail.log).toMatchObject([{ n: 1, url: receiver.url, status: 204, error: null }])
  expect(detail.message_id).toBe(received[2]?.headers['webhook-id'])
})

test('a message that is not accepted is sent again with the same id and body, and later ones wait', async () => {
  receiver.responses = [503, 500, 204]
  await setHook(app, receiver.url)
  const run = await createRun(app, { prompt: 'Look' })
  await receiver.until(1)
  await stop(run.id)
  for (const [i, status] of [503, 500].entries()) {
    await untilDeliveries(app, all => all.at(-1)?.last_status === status)
    expect(receiver.received).toHaveLength(i + 1)
    await hurry(app)
  }
  const received = await receiver.until(5)
  expect(types(received)).toEqual([
    ...Array(3).fill('agent_run.created queued'),
    ...['agent_run.status cancelling', 'agent_run.finished cancelled'],
  ])
  expect(new Set(received.slice(0, 3).map(one => `${one.headers['webhook-id']} ${one.body}`)).size).toBe(1)
  const [first] = (await untilDeliveries(app, all => all.every(({ state }) => state === 'delivered'))).slice(
    -1,
  )
  const { body } = await app.call('GET', `${hook(app)}/deliveries/${first?.id}`)
  expect(body.log.map(({ status, error }: { status: number; error: string }) => [status, error])).toEqual([
    [503, 'it responded with 503'],
    [500, 'it responded with 500'],
    [204, null],
  ])
})

test('events of an aborted transaction are not sent', async () => {
  await setHook(app, receiver.url)
  const { status } = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run?dry_run=true`, {
    prompt: 'Look',
  })
  expect(status).toBe(200)
  const run = await createRun(app, { prompt: 'Look' })
  const received = await receiver.until(1)
  expect(received.map(({ message }) => message.data.agent_run_id)).toEqual([run.id])
  expect(await deliveriesOf(app)).toHaveLength(1)
})

describe('a run that names webhooks of its own', () => {
  test('is reported there and not at the organization’s, each with its own secret; an empty list is nowhere', async () => {
    await using own = await startReceiver()
    await setHook(app, receiver.url)
    const silent = await createRun(app, { prompt: 'Look', webhooks: [] })
    const run = await createRun(app, {
      prompt: 'Look',
      webhooks: [{ url: own.url, secret: 'its own' }, { url: `${own.url}/b` }],
    })
    const received = await own.until(2)
    expect(received.map(one => one.message.data.agent_run_id)).toEqual([run.id, run.id])
    expect(received.map(one => [one.path, 'webhook-signature' in one.headers]).toSorted()).toEqual([
      ['/hook', true],
      ['/hook/b', false],
    ])
    const deliveries = await untilDeliveries(app, all => all.every(({ state }) => state === 'delivered'))
    expect(deliveries.map(({ url, agent_run_id }) => ({ url, agent_run_id }))).toEqual(
      expect.arrayContaining([own.url, `${own.url}/b`].map(url => ({ url, agent_run_id: run.id }))),
    )
    expect(deliveries.filter(({ agent_run_id }) => agent_run_id === silent.id)).toEqual([])
    expect(receiver.received).toEqual([])
  })

  test('a follow-up that names others: what waits for those of before is no longer sent', async () => {
    await using before = await startReceiver(503)
    await using after = await startReceiver()
    const run = await createRun(app, { prompt: 'Look', webhooks: [{ url: before.url }] })
    await untilDeliveries(app, ([one]) => one?.attempts === 1 && one.error !== null)
    await stop(run.id)
    const resumed = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
      agent_run_id: run.id,
      prompt: 'More',
      webhooks: [{ url: after.url }],
    })
    expect(resumed.status).toBe(200)
    expect(types(await after.until(1))).toEqual(['agent_run.status queued'])
    await hurry(app)
    const left = await untilDeliveries(app, all =>
      all.filter(({ url }) => url === before.url).every(({ state }) => state === 'failed'),
    )
    expect(left.filter(({ url }) => url === before.url).map(({ error }) => error)).toEqual(
      Array(3).fill('the run no longer names this address'),
    )
    expect(before.received).toHaveLength(1)
  })
})

test('only subscribed events are sent', async () => {
  await setHook(app, receiver.url, { events: ['agent_run.finished'] })
  await using own = await startReceiver()
  const first = await createRun(app, { prompt: 'Look' })
  const second = await createRun(app, {
    prompt: 'Look',
    webhooks: [{ url: own.url, events: ['agent_run.created'] }],
  })
  await stop(first.id)
  await stop(second.id)
  expect(types(await receiver.until(1))).toEqual(['agent_run.finished cancelled'])
  await untilDeliveries(app, all => all.length === 2 && all.every(({ state }) => state === 'delivered'))
  expect(types(own.received)).toEqual(['agent_run.created queued'])
})

describe('a run that is deleted', () => {
  const remove = async (id: number) => {
    await stop(id)
    return app.call('DELETE', `/v1/organizations/${app.org_id}/agent/run/${id}`)
  }

  test('is reported, without its content, and that is what remains in the ledger', async () => {
    await setHook(app, receiver.url)
    const { id } = await createRun(app, {
      prompt: 'Look',
      title: 'Only here',
      metadata: { ticket: 'only-here' },
    })
    await receiver.until(1)
    expect((await remove(id)).status).toBe(200)
    const [delivery] = await receiver.until(1, deleted)
    const message = WebhookDeletion.strict().parse(delivery?.message)
    expect(message.data).toMatchObject({
      agent_run_id: id,
      organization_id: app.org_id,
      repo_id: app.repo_id,
      change: { user_id: app.user_id },
    })
    expect(delivery?.body).not.toMatch(/only.here/i)
    const [one, ...more] = await untilDeliveries(
      app,
      all => all.every(({ state }) => state === 'delivered'),
      `?agent_run_id=${id}`,
    )
    expect([one?.type, more]).toEqual(['agent_run.deleted', []])
    const path = `${hook(app)}/deliveries/${one?.id}`
    expect(WebhookDeliveryDetail.strict().parse((await app.call('GET', path)).body).message).toEqual(message)
    expect((await app.call('POST', `${path}/redeliver`)).status).toBe(200)
    const again = await receiver.until(2, deleted)
    expect(new Set(again.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size).toBe(1)
  })

  test('is reported to the receivers of its reports, signed with their secret; unsubscribed or unreported events are not', async () => {
    await setHook(app, receiver.url, { events: ['agent_run.finished'] })
    await using own = await startReceiver()
    const requested = { url: own.url, secret: 'its own', events: ['agent_run.deleted'] }
    const run = await createRun(app, {
      prompt: 'Look',
      webhooks: [requested, { url: `${own.url}/b`, events: ['agent_run.finished'] }],
    })
    for (const { id } of [
      run,
      await createRun(app, { prompt: 'Look' }),
      await createRun(app, { prompt: 'Look', webhooks: [] }),
    ])
      expect((await remove(id)).status).toBe(200)
    const [delivery] = await own.until(1, deleted)
    const {
      'webhook-id': id = '',
      'webhook-timestamp': time = '',
      'webhook-signature': signature,
    } = delivery?.headers ?? {}
    expect(signature).toBe(signatureHeader(['its own'], id, Number(time), delivery?.body ?? ''))
    const left = await untilDeliveries(app, all => all.every(({ state }) => state === 'delivered'))
    expect(left.map(({ type, url }) => [type, url])).toEqual([['agent_run.deleted', own.url]])
  })

  test('by retention is reported too', async () => {
    await setHook(app, receiver.url, { events: ['agent_run.deleted'] })
    const ids: number[] = []
    for (let i = 0; i < 3; i++) ids.push((await createRun(app, { prompt: 'Look' })).id)
    for (const id of ids) await stop(id)
    expect(await app.db.transaction(tx => deleteEndedRuns(tx, app.org_id, ids, null))).toBe(3)
    const changes = (await receiver.until(3)).map(({ message }) => message.data)
    expect(changes.map(({ agent_run_id, change }) => [agent_run_id, change.user_id]).toSorted()).toEqual(
      ids.map(id => [id, null]),
    )
    const events = await rows<{ seq: number }>(
      app,
      `select seq
        from events
        where type = 'agent_run.deleted'
        order by seq desc
        limit 3`,
    )
    expect(changes.map(({ event_seq }) => event_seq).toSorted((a, b) => b - a)).toEqual(
      events.map(({ seq }) => seq),
    )
  })
})

test('a run of an agent is reported from start to end, with its pull request', async () => {
  await using working = await startWebhookApp({ AGENTRUN_WORKER_CONCURRENCY: '1' })
  await setHook(working, receiver.url)
  const playbook = '```playbook\n- write: {path: a.txt, content: hello}\n- answer: done\n```'
  const { id } = await createRun(working, { prompt: playbook, model: 'scripted/playbook' })
  await awaitEnd(working, id)
  const received = await receiver.until(1, one => one.message.type === 'agent_run.finished')
  expect(received[0]?.message.data).toMatchObject({
    status: 'completed',
    result: 'done',
    branch: expect.stringContaining(`run-${id}-`),
  })
  expect(received[0]?.message.data.github_pull_requests).toHaveLength(1)
  const types_sent = types(receiver.received)
  expect(types_sent.slice(0, 3)).toEqual([
    'agent_run.created queued',
    'agent_run.status starting',
    'agent_run.status running',
  ])
  expect(types_sent).toContain('agent_run.pull_request running')
  const seqs = receiver.received.map(({ message }) => message.data.event_seq)
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
  for (const { message } of receiver.received) expect(WebhookMessage.strict().parse(message)).toBeDefined()

  // Of one that is on a forge its number and address there.
  await rows(
    working,
    `update pull_requests
      set remote_number = 77, remote_url = 'https://forge.example/77'
      where run_id = $1`,
    [id],
  )
  await working.call('POST', `/v1/organizations/${working.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'Thanks.',
  })
  const later = (await receiver.until(1, one => one.message.data.turn === 2)).at(-1)
  expect(later?.message.data.github_pull_requests).toMatchObject([
    { number: 77, url: 'https://forge.example/77' },
  ])
})
