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

const stop = (body: unknown) => app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, body)
const newRun = async (status: Parameters<typeof putRun>[2]) => {
  const { id } = await createRun(app, { prompt: 'x' })
  await putRun(app, id, status)
  return id as number
}

describe('200', () => {
  test.each(['queued', 'waiting', 'paused'] as const)(
    'a run that is %s, without a worker, is cancelled immediately',
    async status => {
      const id = await newRun(status)
      const { status: code, body } = await stop({ agent_run_id: id })
      expect(code).toBe(200)
      expect(AgentRun.strict().parse(body)).toMatchObject({
        id,
        status: 'cancelled',
        terminal: true,
        status_reason: null,
        waiting_on: null,
      })
      expect(body.finished_at).not.toBeNull()
      expect(
        await rows(app, 'select runnable_at, lease_until, stop_requested_by from runs where id = $1', [id]),
      ).toEqual([{ runnable_at: null, lease_until: null, stop_requested_by: app.user_id }])
    },
  )

  test.each(['starting', 'running'] as const)(
    'a run that is %s is cancelling until its worker has released it',
    async status => {
      const id = await newRun(status)
      const { body } = await stop({ agent_run_id: id })
      expect(AgentRun.parse(body)).toMatchObject({
        id,
        status: 'cancelling',
        terminal: false,
        finished_at: null,
        phase: null,
      })
    },
  )

  test.each(['cancelling', 'completed', 'failed', 'cancelled'] as const)(
    'a run that is %s is left exactly as it is',
    async status => {
      const id = await newRun(status)
      const before = await contents(app)
      const { status: code, body } = await stop({ agent_run_id: id })
      expect({ code, body }).toMatchObject({ code: 200, body: { status } })
      expect(await contents(app)).toEqual(before)
    },
  )

  test('two requests, and twenty parallel ones, have the effect of one', async () => {
    const id = await newRun('queued')
    const responses = await Promise.all(Array.from({ length: 20 }, () => stop({ agent_run_id: id })))
    expect(responses.map(({ status, body }) => [status, body.status])).toEqual(
      responses.map(() => [200, 'cancelled']),
    )
    const events = await rows(
      app,
      `select body
        from events
        where run_id = $1 and type = 'agent_run.status'
        order by seq`,
      [id],
    )
    expect(events.map(event => JSON.parse(event.body).status)).toEqual(['cancelling', 'cancelled'])
  })

  test('additional keys of existing clients are ignored', async () => {
    const id = await newRun('queued')
    const response = await stop({ agent_run_id: id, before_card_order_id: null, after_card_order_id: 'x' })
    expect(response).toMatchObject({ status: 200, body: { status: 'cancelled' } })
  })
})

describe('400', () => {
  test.each([
    {},
    { agent_run_id: null },
    { agent_run_id: '1' },
    { agent_run_id: 1.5 },
    { agent_run_id: -1 },
    { agent_run_id: 2 ** 53 },
  ])('%j', async body => void expectProblem(await stop(body), 400, 'body.agent_run_id'))
})

describe('404', () => {
  test("another organization's run in the body gets the message of a nonexistent one, and it continues", async () => {
    const before = await contents(app)
    const foreign = expectProblem(await stop({ agent_run_id: other.run_id }), 404)
    const unknown = expectProblem(await stop({ agent_run_id: 424_242 }), 404)
    expect({ ...foreign, request_id: '' }).toEqual({ ...unknown, request_id: '' })
    expect(await contents(app)).toEqual(before)
  })
})
