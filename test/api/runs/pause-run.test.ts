import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AgentRun } from '../../../src/contract/runs/runs.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun } from './put-run.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const post = (verb: string, body: unknown) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/${verb}`, body)
const pause = (body: unknown) => post('pause', body)
const newRun = async (status: Parameters<typeof putRun>[2]) => {
  const { id } = await createRun(app, { prompt: 'x' })
  await putRun(app, id, status)
  return id as number
}

describe('200', () => {
  test.each(['queued', 'waiting'] as const)(
    'a run that is %s, without a worker, is paused immediately, and names the user who requested it',
    async status => {
      const id = await newRun(status)
      const { status: code, body } = await pause({ agent_run_id: id })
      expect(code).toBe(200)
      expect(AgentRun.strict().parse(body)).toMatchObject({
        id,
        status: 'paused',
        status_reason: 'user_request',
        terminal: false,
        waiting_on: null,
        deadline_at: null,
        error: null,
        pause_requested_by: app.user_id,
      })
      expect(body.pause_requested_at).not.toBeNull()
      expect(await rows(app, 'select runnable_at, lease_until from runs where id = $1', [id])).toEqual([
        { runnable_at: null, lease_until: null },
      ])
    },
  )

  test.each(['starting', 'running'] as const)(
    'a run that is %s continues until its worker has released it, and reports the request',
    async status => {
      const id = await newRun(status)
      const { status: code, body } = await pause({ agent_run_id: id })
      expect(code).toBe(200)
      expect(AgentRun.parse(body)).toMatchObject({
        id,
        status,
        status_reason: null,
        waiting_on: 'worker',
        pause_requested_by: app.user_id,
      })
      const [lease] = await rows<{ seconds: number }>(
        app,
        `select extract(epoch from lease_until - now())::float8 as seconds
          from runs
          where id = $1`,
        [id],
      )
      expect(lease?.seconds).toBeLessThanOrEqual(10)
    },
  )

  test('a paused run is unchanged, regardless of the reason of its pause', async () => {
    const id = await newRun('paused')
    const before = await contents(app)
    expect(await pause({ agent_run_id: id })).toMatchObject({
      status: 200,
      body: { status: 'paused', status_reason: 'budget' },
    })
    expect(await contents(app)).toEqual(before)
  })

  test.each(['queued', 'running'] as const)(
    'twenty times at once on a run that is %s is the same as once',
    async status => {
      const id = await newRun(status)
      const responses = await Promise.all(Array.from({ length: 20 }, () => pause({ agent_run_id: id })))
      expect(new Set(responses.map(({ status, body }) => `${status} ${body.pause_requested_at}`)).size).toBe(
        1,
      )
      const reported = await rows(app, 'select body from events where run_id = $1', [id])
      expect(reported.filter(({ body }) => /pause_requested|user_request/.test(body))).toHaveLength(1)
    },
  )

  test('a resume continues in the same turn with the message, and nothing of the pause remains', async () => {
    const id = await newRun('queued')
    await pause({ agent_run_id: id })
    const { body } = await post('resume', { agent_run_id: id, prompt: 'go on' })
    expect(body).toMatchObject({
      status: 'queued',
      turn: 1,
      status_reason: null,
      waiting_on: 'slot',
      pause_requested_at: null,
    })
    expect(body.deadline_at).not.toBeNull()
  })

  test('a message to a run that is about to pause continues it', async () => {
    const id = await newRun('running')
    await pause({ agent_run_id: id })
    const { body } = await post('resume', { agent_run_id: id, prompt: 'no, go on' })
    expect(body).toMatchObject({ status: 'running', pause_requested_at: null, pause_requested_by: null })
  })

  test('a stop of a run that is about to pause wins', async () => {
    const id = await newRun('running')
    await pause({ agent_run_id: id })
    expect((await post('stop', { agent_run_id: id })).body).toMatchObject({
      status: 'cancelling',
      stop_requested_by: app.user_id,
    })
  })
})

describe('400', () => {
  test.each([{}, { agent_run_id: null }, { agent_run_id: '1' }, { agent_run_id: -1 }])(
    '%j',
    async body => void expectProblem(await pause(body), 400, 'body.agent_run_id'),
  )
})

describe('404', () => {
  test("another organization's run in the body gets the message of a nonexistent one, and it continues", async () => {
    const before = await contents(app)
    const foreign = expectProblem(await pause({ agent_run_id: other.run_id }), 404)
    const unknown = expectProblem(await pause({ agent_run_id: 424_242 }), 404)
    expect({ ...foreign, request_id: '' }).toEqual({ ...unknown, request_id: '' })
    expect(await contents(app)).toEqual(before)
  })
})

describe('409', () => {
  test.each(['cancelling', 'completed', 'failed', 'cancelled'] as const)(
    'a run that is %s is not paused, and nothing changes',
    async status => {
      const id = await newRun(status)
      const before = await contents(app)
      expect(expectProblem(await pause({ agent_run_id: id }), 409)).toMatchObject({
        code: 'invalid_transition',
      })
      expect(await contents(app)).toEqual(before)
    },
  )
})
