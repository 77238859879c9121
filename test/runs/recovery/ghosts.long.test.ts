import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { heartbeat } from '../../../src/store/leases/leases.ts'
import { putRun } from '../../api/runs/put-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'

/**
 * A ghost is a run that has not ended and that nothing will end: no live lease, no worker that may claim it,
 * no deadline that comes. Each way to become one is either refused by the database or ended by the sweep. No
 * run is claimed here: this process only sweeps.
 */
let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const newRun = async (status: Parameters<typeof putRun>[2] = 'queued') => {
  const { id } = await createRun(app, { prompt: 'x' })
  await putRun(app, id, status)
  return id as number
}
const set = (id: number, what: string) => rows(app, `update runs set ${what} where id = $1`, [id])

describe('the database refuses', () => {
  test.each([
    ['one in the queue that no worker may claim', 'queued', 'runnable_at = null'],
    ['one in the queue without an end in time', 'queued', 'deadline_at = null'],
    ['one that starts without an end in time', 'starting', 'deadline_at = null'],
    ['a running one without an end in time', 'running', 'deadline_at = null'],
    ['a question without an end in time', 'waiting', 'deadline_at = null'],
    ['a starting one without an owner', 'starting', 'lease_until = null, owner = null'],
    ['a running one without an owner', 'running', 'lease_until = null, owner = null'],
    ['a stop without a worker', 'cancelling', 'lease_until = null, owner = null'],
    ['an owner without a lease', 'running', 'lease_until = null'],
    ['a lease without an owner', 'running', 'owner = null'],
    ['one that waits for nothing', 'waiting', 'waiting_on = null'],
    ['a running one that waits for a person', 'running', `waiting_on = 'user_input'`],
    ['a paused one without a reason', 'paused', 'status_reason = null'],
    ['a failed one without a reason', 'failed', 'status_reason = null'],
    ['a paused one that may be claimed', 'paused', 'runnable_at = now()'],
    ['one that has ended and may be claimed', 'completed', 'runnable_at = now()'],
    ['one that has ended and that somebody has', 'cancelled', `lease_until = now(), owner = 'a ghost'`],
    ['a status that there is not', 'running', `status = 'gone'`],
  ] as const)('%s', async (_what, status, what) => {
    const id = await newRun(status)
    await expect(set(id, what)).rejects.toThrow(/check constraint/)
  })
})

describe('the sweep ends, or gives to the next worker', () => {
  test.each(['starting', 'running'] as const)('a run that is %s and whose owner is gone', async status => {
    const id = await newRun(status)
    await set(id, `lease_until = now() - interval '1 second'`)
    const run = await awaitRun(app, id, now => now.status === 'queued')
    // It reports that it waits for a worker that continues it.
    expect(run).toMatchObject({ waiting_on: 'worker', phase: null })
    expect(run.deadline_at).not.toBeNull()
  })

  test('a lease that lasts for days because a clock was set back', async () => {
    const id = await newRun('running')
    await set(id, `lease_until = now() + interval '2 days'`)
    await awaitRun(app, id, run => run.status === 'queued')
  })

  test('a stop that its worker ignores takes effect, even while the worker sends heartbeats', async () => {
    const id = await newRun('running')
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })
    const [row] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [id])
    const claim = { organization_id: app.org_id, run_id: id, epoch: row?.epoch ?? 0 }
    let ended = false
    const end = awaitEnd(app, id).finally(() => {
      ended = true
    })
    while (!ended) await heartbeat(app.db, { ...claim, worked_ms: 0, progressed: true }, 5)
    expect(await end).toMatchObject({ status: 'cancelled' })
  })

  test('a run that is stuck past its deadline is ended, even while its worker sends heartbeats', async () => {
    const id = await newRun('running')
    await set(id, `deadline_at = now() - interval '31 seconds'`)
    const [row] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [id])
    await heartbeat(
      app.db,
      { organization_id: app.org_id, run_id: id, epoch: row?.epoch ?? 0, worked_ms: 0, progressed: true },
      5,
    )
    expect(await awaitEnd(app, id)).toMatchObject({
      status: 'failed',
      status_reason: 'timeout',
      error: { code: 'deadline_exceeded' },
    })
  })

  test('a queued run whose deadline is over, also if another worker began it', async () => {
    const fresh = await newRun()
    const begun = await newRun()
    await set(begun, `recovering_since = now(), recovery_cause = 'lease_lost'`)
    for (const id of [fresh, begun]) await set(id, `deadline_at = now() - interval '1 second'`)
    for (const id of [fresh, begun])
      expect(await awaitEnd(app, id)).toMatchObject({
        status: 'failed',
        status_reason: 'timeout',
        error: { code: 'queue_timeout' },
      })
  })

  test('a question whose deadline is over', async () => {
    const id = await newRun('waiting')
    await set(id, `deadline_at = now() - interval '1 second'`)
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'failed', error: { code: 'answer_timeout' } })
  })

  test('a run that lost too many workers', async () => {
    const id = await newRun('running')
    await set(id, `lease_until = now() - interval '1 second', losses = 1000`)
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'failed', status_reason: 'lost' })
  })

  test('a run with an unreadable journal fails, and those behind it in the queue are processed', async () => {
    const broken = await newRun('running')
    const behind = await newRun('running')
    await rows(
      app,
      `insert into journal (run_id, n, organization_id, turn, epoch, kind, body)
        select id, 1, organization_id, 1, 1, 'tool_started', '{'
        from runs
        where id = $1`,
      [broken],
    )
    for (const id of [broken, behind])
      await set(id, `status = 'cancelling', phase = null, lease_until = now() - interval '1 second'`)
    for (const id of [broken, behind]) expect(await awaitEnd(app, id)).toMatchObject({ status: 'cancelled' })
    expect((await allLogs(app, broken)).at(-1)?.message_type).toBe('USER_MESSAGE')
  })

  test('a pause that its worker does not carry out', async () => {
    const id = await newRun('running')
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/pause`, { agent_run_id: id })
    await set(id, `lease_until = now() - interval '1 second'`)
    expect(await awaitRun(app, id, run => run.status === 'paused')).toMatchObject({
      status_reason: 'user_request',
    })
  })
})

test('a run that waits for an answer can be claimed as soon as it has one, in the statement that takes the answer', async () => {
  const id = await newRun('waiting')
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'Blue.',
  })
  expect(
    await rows(
      app,
      `select runnable_at is not null as claimable, pending_messages > 0 as has_unread_messages
        from runs
        where id = $1`,
      [id],
    ),
  ).toEqual([{ claimable: true, has_unread_messages: true }])
})
