import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AgentRun } from '../../../src/contract/runs/runs.ts'
import { takeMessages } from '../../../src/store/runs/messages.ts'
import { allLogs, createRun } from '../../runs/await-run.ts'
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

const path = (org_id = app.org_id) => `/v1/organizations/${org_id}/agent/run/resume`
const resume = (body: unknown) => app.call('POST', path(), body)
const newRun = async (status: Parameters<typeof putRun>[2]) => {
  const { id } = await createRun(app, { prompt: 'first' })
  await putRun(app, id, status)
  return id as number
}
const messages = (id: number) =>
  rows(
    app,
    `select seq, turn, mode, text
    from messages
    where run_id = $1 and seq > 1
    order by id`,
    [id],
  )
const lastEntry = async (id: number) => (await allLogs(app, id)).at(-1)
const runnable = async (id: number) =>
  (
    await rows<{ runnable: boolean }>(
      app,
      'select runnable_at is not null as runnable from runs where id = $1',
      [id],
    )
  )[0]?.runnable

describe('200', () => {
  test.each(['completed', 'failed', 'cancelled'] as const)(
    'a run that is %s gets a new turn, with nothing left of the end before',
    async status => {
      const id = await newRun(status)
      const response = await resume({ agent_run_id: id, prompt: ' go on ' })
      expect(response.status).toBe(200)
      expect(AgentRun.strict().parse(response.body)).toMatchObject({
        id,
        status: 'queued',
        terminal: false,
        turn: 2,
        result: '',
        error: null,
        status_reason: null,
        finished_at: null,
        total_logs: 2,
        prompt: 'first',
        waiting_on: 'slot',
        phase: null,
      })
      expect(response.body.deadline_at).not.toBeNull()
      expect(await messages(id)).toEqual([{ seq: 2, turn: 2, mode: 'prompt', text: 'go on' }])
      expect(await runnable(id)).toBe(true)
    },
  )

  test('a paused run continues in the same turn, with the increased budget', async () => {
    const id = await newRun('paused')
    const { body } = await resume({ agent_run_id: id, prompt: 'go on', budget: { max_steps: 500 } })
    expect(body).toMatchObject({
      status: 'queued',
      turn: 1,
      status_reason: null,
      budget: { max_steps: 500, max_cost_usd: null },
    })
    expect(await messages(id)).toEqual([{ seq: 2, turn: 1, mode: 'steer', text: 'go on' }])
  })

  test('a waiting run is answered and can be claimed immediately', async () => {
    const id = await newRun('waiting')
    expect(await runnable(id)).toBe(false)
    const { body } = await resume({ agent_run_id: id, prompt: 'blue' })
    expect(body).toMatchObject({ status: 'waiting', waiting_on: 'slot', turn: 1 })
    expect(await messages(id)).toEqual([{ seq: 2, turn: 1, mode: 'answer', text: 'blue' }])
    expect(await runnable(id)).toBe(true)
  })

  test.each(['queued', 'starting', 'running'] as const)(
    'a run that is %s reads the message in its mode, default steer',
    async status => {
      const id = await newRun(status)
      for (const mode of [undefined, 'steer', 'enqueue', 'interrupt']) {
        const response = await resume({ agent_run_id: id, prompt: `as ${mode}`, mode })
        expect(response).toMatchObject({ status: 200, body: { status, turn: 1 } })
      }
      expect(await messages(id)).toEqual([
        { seq: 2, turn: 1, mode: 'steer', text: 'as undefined' },
        { seq: 3, turn: 1, mode: 'steer', text: 'as steer' },
        { seq: 4, turn: 2, mode: 'enqueue', text: 'as enqueue' },
        { seq: 5, turn: 1, mode: 'interrupt', text: 'as interrupt' },
      ])
      expect((await allLogs(app, id)).map(entry => entry.observation.mode)).toEqual([
        'prompt',
        'steer',
        'steer',
        'enqueue',
        'interrupt',
      ])
    },
  )

  test('enqueued messages are kept for the next turn, steering ones are delivered in this one, each once', async () => {
    const id = await newRun('running')
    await resume({ agent_run_id: id, prompt: 'later', mode: 'enqueue' })
    await resume({ agent_run_id: id, prompt: 'now' })
    const [run] = await rows<{ epoch: number; pending_messages: number }>(
      app,
      'select epoch, pending_messages from runs where id = $1',
      [id],
    )
    expect(run?.pending_messages).toBe(2)
    expect(
      (await takeMessages(app.db, app.org_id, id, run?.epoch ?? 0)).map(message => message.text),
    ).toEqual(['first', 'now'])
    expect(await takeMessages(app.db, app.org_id, id, run?.epoch ?? 0)).toEqual([])
    await putRun(app, id, 'completed')
    await resume({ agent_run_id: id, prompt: 'and this' })
    await putRun(app, id, 'running')
    const [next] = await rows<{ epoch: number; pending_messages: number }>(
      app,
      'select epoch, pending_messages from runs where id = $1',
      [id],
    )
    expect(next?.pending_messages).toBe(2)
    expect(
      (await takeMessages(app.db, app.org_id, id, next?.epoch ?? 0)).map(message => message.text),
    ).toEqual(['later', 'and this'])
  })

  test('the message is in the trace before the response, as a USER_MESSAGE', async () => {
    const id = await newRun('completed')
    await resume({
      agent_run_id: id,
      prompt: 'more',
      images: ['data:image/png;base64,AAAA', 'data:image/gif;base64,AAAA'],
    })
    expect(await lastEntry(id)).toMatchObject({
      seq: 2,
      turn: 2,
      message_type: 'USER_MESSAGE',
      thought: null,
      tool_name: null,
      observation: { text: 'more', user_id: app.user_id, source_type: 'API', mode: 'prompt', images: 2 },
    })
  })

  test('twenty in parallel on a finished run: one new turn, every message stored, no position in the trace used twice', async () => {
    const id = await newRun('completed')
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, i) => resume({ agent_run_id: id, prompt: `message ${i}` })),
    )
    expect(responses.map(response => response.status)).toEqual(responses.map(() => 200))
    const logs = await allLogs(app, id)
    expect(logs.map(entry => entry.seq)).toEqual(Array.from({ length: 21 }, (_, i) => i + 1))
    expect(new Set(logs.map(entry => entry.observation.text)).size).toBe(21)
    expect((await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body).toMatchObject({
      turn: 2,
      total_logs: 21,
    })
  })

  test('keys of existing clients are accepted: model, images null, webhooks null', async () => {
    const id = await newRun('completed')
    const response = await resume({
      agent_run_id: id,
      prompt: 'x',
      model: 'scripted/playbook',
      images: null,
      webhooks: null,
      status: 'completed',
    })
    expect(response).toMatchObject({ status: 200, body: { status: 'queued' } })
  })
})

describe('its webhooks', () => {
  const stored = async (id: number) =>
    (await rows(app, 'select webhooks from runs where id = $1', [id]))[0]?.webhooks

  test('of a follow-up replace those of the run; an empty list means none, absent and null change nothing', async () => {
    const id = await newRun('completed')
    const resumeWith = (webhooks?: unknown) => resume({ agent_run_id: id, prompt: 'x', webhooks })
    await resumeWith([{ url: 'https://example.org/1', secret: 's' }])
    expect(await stored(id)).toMatch(
      /^\[{"url":"https:\/\/example\.org\/1","key_id":"\w{16}","sealed":"[^"]{40,}"}\]$/,
    )
    for (const kept of [undefined, null]) {
      expect((await resumeWith(kept)).status).toBe(200)
      expect(await stored(id)).toContain('example.org/1')
    }
    await resumeWith([])
    expect(await stored(id)).toBe('[]')
  })
})

describe('its pull request', () => {
  test.each(['open', 'merged', 'closed'] as const)(
    'that is %s stays as it is: where the turn continues is for its worker to settle',
    async state => {
      const id = await newRun('completed')
      await putPullRequest(app, id, state)
      expect((await resume({ agent_run_id: id, prompt: 'more' })).body).toMatchObject({
        branch: `agent/run-${id}-x`,
        github_pull_requests: [{ state, head_branch_name: `agent/run-${id}-x` }],
      })
    },
  )
})

describe('400', () => {
  test('a budget that is already used up, named by its field', async () => {
    const id = await newRun('paused')
    await rows(app, 'update runs set steps = 10, cost_usd = 1.5, active_ms = 60000 where id = $1', [id])
    const before = await contents(app)
    for (const [name, value] of [
      ['max_steps', 10],
      ['max_cost_usd', '1.5'],
      ['max_active_seconds', 60],
    ] as const) {
      const response = await resume({ agent_run_id: id, prompt: 'x', budget: { [name]: value } })
      expect(expectProblem(response, 400, `body.budget.${name}`).detail).toContain('that the run has used')
    }
    expect(await contents(app)).toEqual(before)
    const enough = { max_steps: 11, max_cost_usd: '1.6', max_active_seconds: 61 }
    expect(await resume({ agent_run_id: id, prompt: 'x', budget: enough })).toMatchObject({
      status: 200,
      body: { status: 'queued', budget: enough },
    })
  })

  test('names every invalid field, and nothing is written', async () => {
    const id = await newRun('completed')
    const before = await contents(app)
    expectProblem(await resume({ prompt: '' }), 400, 'body.agent_run_id', 'body.prompt')
    expectProblem(
      await resume({ agent_run_id: `${id}`, prompt: 'x', mode: 'shout' }),
      400,
      'body.agent_run_id',
      'body.mode',
    )
    expectProblem(await resume({ agent_run_id: id, prompt: 'a\0' }), 400, 'body.prompt')
    expectProblem(await resume({ agent_run_id: id, prompt: 'x', model: 'no/model' }), 400, 'body.model')
    expectProblem(
      await resume({ agent_run_id: id, prompt: 'x', budget: { max_steps: 0 } }),
      400,
      'body.budget.max_steps',
    )
    expectProblem(
      await resume({ agent_run_id: id, prompt: '```playbook\n- nothing: here\n```' }),
      400,
      'body.prompt',
    )
    expectProblem(await resume({ agent_run_id: id, prompt: 'x', images: ['nothing'] }), 400, 'body.images.0')
    expectProblem(
      await resume({ agent_run_id: id, prompt: 'x', webhooks: [{ url: 'http://[::1]/' }] }),
      400,
      'body.webhooks.0.url',
    )
    expect(await contents(app)).toEqual(before)
  })
})

describe('404', () => {
  test("another organization's run in the body, with the message for a nonexistent one, and it is unchanged", async () => {
    const before = await contents(app)
    const foreign = expectProblem(await resume({ agent_run_id: other.run_id, prompt: 'x' }), 404)
    const unknown = expectProblem(await resume({ agent_run_id: 424_242, prompt: 'x' }), 404)
    expect({ ...foreign, request_id: '' }).toEqual({ ...unknown, request_id: '' })
    expect(await contents(app)).toEqual(before)
  })
})

describe('409', () => {
  test('a banned run, and nothing is written', async () => {
    const id = await newRun('cancelling')
    await rows(app, 'update runs set banned = true where id = $1', [id])
    const before = await contents(app)
    expect(expectProblem(await resume({ agent_run_id: id, prompt: 'x' }), 409).code).toBe(
      'invalid_transition',
    )
    expect(await contents(app)).toEqual(before)
  })
})
