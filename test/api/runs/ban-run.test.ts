import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AgentRun } from '../../../src/contract/runs/runs.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { putPullRequest } from '../pull-requests/put-pull-request.ts'
import { putRun } from './put-run.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const path = (verb: string) => `/v1/organizations/${app.org_id}/agent/run/${verb}`
const ban = (body: unknown) => app.call('POST', path('ban'), body)
const unban = (body: unknown) => app.call('POST', path('unban'), body)
const get = async (id: number) => (await app.call('GET', path(`${id}`))).body
const newRun = async (status: Parameters<typeof putRun>[2]) => {
  const { id } = await createRun(app, { prompt: 'x' })
  await putRun(app, id, status)
  return id as number
}

describe('200', () => {
  test.each([
    ['queued', 'cancelled'],
    ['waiting', 'cancelled'],
    ['paused', 'cancelled'],
    ['starting', 'cancelling'],
    ['running', 'cancelling'],
    ['cancelling', 'cancelling'],
    ['completed', 'completed'],
    ['failed', 'failed'],
  ] as const)('a run that is %s is stopped as by a stop, and marked', async (before, after) => {
    const id = await newRun(before)
    const { status, body } = await ban({ agent_run_id: id })
    expect(status).toBe(200)
    expect(AgentRun.strict().parse(body)).toMatchObject({ id, banned: true, status: after })
    expect(await get(id)).toMatchObject({ banned: true, status: after })
  })

  test('every other run on the branch of its pull request is stopped and marked too, and no other', async () => {
    const owner = await newRun('completed')
    await putPullRequest(app, owner)
    const [fixing, apart] = [await newRun('running'), await newRun('running')]
    await rows(app, 'update runs set branch = (select branch from runs where id = $2) where id = $1', [
      fixing,
      owner,
    ])
    expect((await ban({ agent_run_id: owner })).body).toMatchObject({
      id: owner,
      banned: true,
      status: 'completed',
    })
    expect(await get(fixing)).toMatchObject({ banned: true, status: 'cancelling' })
    expect(await get(apart)).toMatchObject({ banned: false, status: 'running' })
    expect((await unban({ agent_run_id: fixing })).body).toMatchObject({ id: fixing, banned: false })
    expect(await get(owner)).toMatchObject({ banned: false })
  })

  test('no ban is published before all runs are locked, including child runs: a lock on one of them does not delay the ban', async () => {
    const owner = await newRun('running')
    await putPullRequest(app, owner)
    const [fixing, child] = [await newRun('running'), await newRun('running')]
    await rows(app, 'update runs set branch = (select branch from runs where id = $2) where id = $1', [
      fixing,
      owner,
    ])
    await rows(app, `update runs set parent_run_id = $2, source_type = 'PARENT_RUN' where id = $1`, [
      child,
      fixing,
    ])
    const waits = () =>
      rows(
        app,
        `select 1
          from pg_stat_activity
          where datname = current_database()
            and wait_event_type = 'Lock'
            and query like 'with recursive line %'`,
      )
    const banned = await app.db.transaction(async tx => {
      await tx.query({ text: 'select 1 from runs where id = $1 for update', values: [child] })
      const response = ban({ agent_run_id: owner })
      await expect.poll(async () => (await waits()).length, { timeout: 2_000 }).toBe(1)
      // Locks like an event of the child: fails, before the deadlock detection, if the ban holds the lock.
      await tx.query({ text: `set local lock_timeout = '300ms'` })
      await tx.query({ text: 'select 1 from organizations where id = $1 for update', values: [app.org_id] })
      return { response }
    })
    expect(await banned.response).toMatchObject({ status: 200, body: { id: owner, banned: true } })
    expect(await get(fixing)).toMatchObject({ banned: true, status: 'cancelling' })
    expect(await get(child)).toMatchObject({ banned: false, status: 'cancelling' })
  })

  test('two requests, and ten parallel ones, have the effect of one', async () => {
    const id = await newRun('queued')
    const responses = await Promise.all(Array.from({ length: 10 }, () => ban({ agent_run_id: id })))
    expect(responses.map(({ status, body }) => [status, body.banned, body.status])).toEqual(
      responses.map(() => [200, true, 'cancelled']),
    )
    const events = await rows(app, 'select body from events where run_id = $1 order by seq', [id])
    expect(events.map(event => JSON.parse(event.body).banned).filter(Boolean)).toEqual([true])
    const audited = await rows(app, 'select user_id, action from audit_entries where target_id = $1', [
      `${id}`,
    ])
    expect(audited).toEqual([{ user_id: app.user_id, action: 'run.banned' }])
    const before = await contents(app)
    expect((await ban({ agent_run_id: id })).status).toBe(200)
    expect(await contents(app)).toEqual(before)
  })

  test('unban of a run that is not banned changes nothing', async () => {
    const id = await newRun('running')
    const before = await contents(app)
    expect(await unban({ agent_run_id: id })).toMatchObject({
      status: 200,
      body: { id, banned: false, status: 'running' },
    })
    expect(await contents(app)).toEqual(before)
  })

  test('additional keys of existing clients are accepted', async () => {
    const id = await newRun('completed')
    const body = { agent_run_id: id, before_card_order_id: 'a0', after_card_order_id: null }
    expect(await ban(body)).toMatchObject({ status: 200, body: { banned: true } })
    expect(await unban(body)).toMatchObject({ status: 200, body: { banned: false } })
  })
})

describe('a banned run', () => {
  test('is not resumed: 409 with that reason, and nothing is written; after unban it can be resumed', async () => {
    const id = await newRun('completed')
    await ban({ agent_run_id: id })
    const before = await contents(app)
    for (const result of [
      await app.call('POST', path('resume'), { agent_run_id: id, prompt: 'go on' }),
      await app.call('POST', path(`${id}/resume`), { prompt: 'go on' }),
    ]) {
      const problem = expectProblem(result, 409)
      expect(problem.code).toBe('invalid_transition')
      expect(problem.detail).toContain('banned')
    }
    expect(await contents(app)).toEqual(before)
    await unban({ agent_run_id: id })
    expect(await app.call('POST', path('resume'), { agent_run_id: id, prompt: 'go on' })).toMatchObject({
      status: 200,
      body: { status: 'queued', turn: 2, banned: false },
    })
  })
})

describe.each(['ban', 'unban'])('400 of %s', verb => {
  test.each([
    [{}, 'agent_run_id'],
    [{ agent_run_id: '1' }, 'agent_run_id'],
    [{ agent_run_id: -1 }, 'agent_run_id'],
    [{ agent_run_id: 1, before_card_order_id: 7 }, 'before_card_order_id'],
  ])(
    '%j',
    async (body, field) => void expectProblem(await app.call('POST', path(verb), body), 400, `body.${field}`),
  )
})

describe.each(['ban', 'unban'])('404 of %s', verb => {
  test("another organization's run in the body gets the message of a nonexistent one, and it continues", async () => {
    const before = await contents(app)
    const foreign = expectProblem(await app.call('POST', path(verb), { agent_run_id: other.run_id }), 404)
    const unknown = expectProblem(await app.call('POST', path(verb), { agent_run_id: 424_242 }), 404)
    expect({ ...foreign, request_id: '' }).toEqual({ ...unknown, request_id: '' })
    expect(await contents(app)).toEqual(before)
  })
})
