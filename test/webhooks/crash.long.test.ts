import type { ServerResponse } from 'node:http'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ApiCluster, type ClusterNode, startApiCluster } from '../runs/recovery/cluster.ts'
import { TOKEN } from '../start-app.ts'
import { type ReceivedDelivery, type Receiver, startReceiver } from './receiver.ts'

let cluster: ApiCluster
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  cluster = await startApiCluster(() => ({ text: 'done' }), { AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' })
  const response = await fetch(`${cluster.api.base_url}/v1/organizations/1/webhooks/agent-run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, secret: 'shared' }),
  })
  expect(response.status).toBe(200)
})
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]()
  await receiver?.[Symbol.asyncDispose]()
})
beforeEach(() => {
  receiver.received.splice(0)
  receiver.responses = [204]
})

const ids = (received: ReceivedDelivery[]) => new Set(received.map(one => one.headers['webhook-id']))
const of = (id: number) => (one: ReceivedDelivery) => one.message.data.agent_run_id === id
/** Until nothing waits, with dead owners' leases over at once instead of in half a minute. */
async function settled(): Promise<{ state: string; attempts: number }[]> {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    const found = await cluster.rows<{ state: string; attempts: number }>(
      'select state, attempts from webhook_deliveries order by id',
    )
    if (found.every(({ state }) => state !== 'pending')) return found
    await new Promise(resolve => setTimeout(resolve, 30))
  }
  throw new Error(JSON.stringify(await cluster.rows('select * from webhook_deliveries')))
}
const leasesEnd = () =>
  cluster.rows(
    `update webhook_deliveries
      set lease_until = now(), next_attempt_at = now()
      where state = 'pending' and lease_until is not null`,
  )

async function kill(node: ClusterNode): Promise<void> {
  node.child.kill('SIGKILL')
  await node.ended
}

/** Holds a lock for as long as `work` takes: statements that need it wait. */
async function holding(statement: string, work: () => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: cluster.db.connection_string })
  await client.connect()
  try {
    await client.query(`begin; ${statement}`)
    await work()
  } finally {
    await client.end()
  }
}
/**
 * Waits until this number of attempts are blocked: they are claimed, and no connection of theirs makes
 * progress.
 */
async function untilClaimed(run_id: number): Promise<void> {
  for (;;) {
    const found = await cluster.rows(
      'select 1 from webhook_deliveries where run_id = $1 and lease_until > now()',
      [run_id],
    )
    if (found.length > 0) return
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

test('killed before it sends: the next API process delivers what it had accepted', async () => {
  const { id } = await cluster.createRun({ prompt: 'x', repoless: true, repo_id: null })
  await kill(cluster.api)
  cluster.api = await cluster.start('serve', cluster.api.data_dir)
  await leasesEnd()
  await receiver.until(1, of(id))
  await settled()
  expect(ids(receiver.received.filter(of(id))).size).toBe(1)
})

test('killed after the claim and before the request: the next one delivers it once', async () => {
  let id = 0
  await holding('lock table secrets in access exclusive mode', async () => {
    // The create reads secrets too; this event is of a run that is there.
    const [run] = await cluster.rows<{ id: number }>('select max(id) as id from runs')
    id = run?.id ?? 0
    await cluster.rows(
      `insert into webhook_deliveries (
          organization_id, run_id, event_seq, type, body, state, next_attempt_at, give_up_at
        )
        select organization_id, run_id, event_seq, type, body, 'pending', now(), now() + interval '1 day'
        from webhook_deliveries
        where run_id = $1
        limit 1`,
      [id],
    )
    await cluster.rows(`select pg_notify('agentrun_webhook', '')`)
    await untilClaimed(id)
    await kill(cluster.api)
  })
  expect(receiver.received).toEqual([])
  cluster.api = await cluster.start('serve', cluster.api.data_dir)
  await leasesEnd()
  await receiver.until(1, of(id))
  expect((await settled()).at(-1)).toEqual({ state: 'delivered', attempts: 2 })
  expect(receiver.received).toHaveLength(1)
})

test('killed before the receiver responds: it is sent again with the same id and body', async () => {
  const dying = Promise.withResolvers<void>()
  const die = (_request: unknown, _response: ServerResponse) => void kill(cluster.api).then(dying.resolve)
  receiver.responses = [die, 204]
  const { id } = await cluster.createRun({ prompt: 'x', repoless: true, repo_id: null })
  await dying.promise
  cluster.api = await cluster.start('serve', cluster.api.data_dir)
  await leasesEnd()
  const [first, again] = await receiver.until(2, of(id))
  expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  expect(again?.message.data).toEqual({ ...first?.message.data, web_url: again?.message.data.web_url })
  await settled()
})

test('killed between the response and its record: it is sent again with the same id, once', async () => {
  const { id } = await cluster.createRun({ prompt: 'x', repoless: true, repo_id: null })
  await receiver.until(1, of(id))
  await settled()
  receiver.received.splice(0)
  await holding('select 1 from organizations for update', async () => {
    await cluster.rows(
      `update webhook_deliveries
        set state = 'pending', finished_at = null, next_attempt_at = now(),
          give_up_at = now() + interval '1 day'
        where run_id = $1`,
      [id],
    )
    await cluster.rows(`select pg_notify('agentrun_webhook', '')`)
    await receiver.until(1, of(id))
    await kill(cluster.api)
  })
  cluster.api = await cluster.start('serve', cluster.api.data_dir)
  await leasesEnd()
  const received = await receiver.until(2, of(id))
  await settled()
  expect(ids(received).size).toBe(1)
})

test('killed between two events of a run: the order is kept', async () => {
  const [accepted, dying] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  // The first message may be on its way before the run is accepted in a response.
  receiver.responses = [() => void accepted.promise.then(() => kill(cluster.api)).then(dying.resolve), 204]
  const worker = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'x', repoless: true, repo_id: null })
  accepted.resolve()
  await dying.promise
  cluster.api = await cluster.start('serve', cluster.api.data_dir)
  await cluster.until(id, run => run.terminal)
  await leasesEnd()
  await receiver.until(1, one => of(id)(one) && one.message.type === 'agent_run.finished')
  await settled()
  const reported = receiver.received.filter(of(id))
  const seqs = reported.map(({ message }) => message.data.event_seq)
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
  const events = await cluster.rows<{ n: number }>(
    `select count(*) as n
      from events
      where run_id = $1 and type in ('agent_run.created', 'agent_run.status', 'agent_run.pull_request')`,
    [id],
  )
  expect(ids(reported).size).toBe(events[0]?.n)
  await kill(worker)
})

test('I9 three processes share the work: every event once, each run in order, and no message twice unless a process dies', async () => {
  const others = [await cluster.start('serve'), await cluster.start('work'), await cluster.start('work')]
  const runs = await Promise.all(
    Array.from({ length: 12 }, () => cluster.createRun({ prompt: 'x', repoless: true, repo_id: null })),
  )
  for (const { id } of runs) await cluster.until(id, run => run.terminal)
  await receiver.until(runs.length, one => one.message.type === 'agent_run.finished')
  await settled()
  expect(receiver.received).toHaveLength(ids(receiver.received).size)
  for (const { id } of runs) {
    const reported = receiver.received.filter(of(id)).map(({ message }) => message.data.event_seq)
    expect(reported).toEqual(reported.toSorted((a, b) => a - b))
    const events = await cluster.rows<{ seq: number }>(
      `select seq
        from events
        where run_id = $1 and type in ('agent_run.created', 'agent_run.status', 'agent_run.pull_request')
        order by seq`,
      [id],
    )
    expect(reported).toEqual(events.map(({ seq }) => seq))
  }
  await Promise.all(others.map(kill))
})
