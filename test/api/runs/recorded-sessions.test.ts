import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LogEntry } from '../../../src/contract/runs/logs.ts'
import { claimRun } from '../../../src/store/leases/claims.ts'
import { allLogs, awaitRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addCaller } from '../access/add-caller.ts'
import { addOrganization } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { listenToRuns } from '../listen-to-runs.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const org = () => `/v1/organizations/${app.org_id}`
const post = (path: string, body: unknown, token = app.token) =>
  app.call('POST', `${org()}/${path}`, body, { authorization: `Bearer ${token}` })
const getRun = async (id: number) => (await app.call('GET', `${org()}/agent/run/${id}`)).body

async function newSession(session_id: string = randomUUID()) {
  const { status, body } = await post('claude_code/session', { session_id })
  expect(status).toBe(200)
  const id = body.agent_run_id as number
  const log = (entry: unknown) => post(`claude_code/session/${session_id}/log`, { log: entry })
  const report = (status: string) => post(`claude_code/session/${session_id}/status`, { status })
  return { session_id, id, log, report }
}
const user = (content: unknown) => ({ type: 'user', message: { role: 'user', content } })
const agent = (...content: unknown[]) => ({
  type: 'assistant',
  message: { role: 'assistant', model: 'claude-sonnet-4-5', content },
})
const text = (words: string) => ({ type: 'text', text: words })
const typesOf = (logs: LogEntry[]) => logs.map(({ message_type }) => message_type)

describe('200: a session is a run', () => {
  test('that is running immediately, is created once by its user, and is not reachable for other users', async () => {
    const { session_id, id } = await newSession()
    expect(await getRun(id)).toMatchObject({
      status: 'running',
      source_type: 'LOCAL',
      repo_id: null,
      agent_type: 'claude_code',
      waiting_on: null,
    })
    expect((await post('claude_code/session', { session_id })).body).toEqual({
      agent_run_id: id,
      session_id,
      web_url: expect.stringContaining(`${id}`),
    })

    const colleague = await addCaller(app, [app.org_id], 'MEMBER')
    expectProblem(await post(`claude_code/session/${session_id}/log`, { log: user('x') }, colleague), 404)
    expect((await post('claude_code/session', { session_id }, colleague)).body.agent_run_id).not.toBe(id)
    const stranger = await addOrganization(app, 'Recorder')
    const theirs = await app.call(
      'POST',
      `/v1/organizations/${stranger.org_id}/claude_code/session/${session_id}/log`,
      { log: user('x') },
      { authorization: `Bearer ${stranger.token}` },
    )
    expectProblem(theirs, 404)
    expect(await allLogs(app, id)).toEqual([])
  })

  test('that two parallel creates share', async () => {
    const session_id = randomUUID()
    const created = await Promise.all(Array.from({ length: 5 }, () => newSession(session_id)))
    expect(new Set(created.map(({ id }) => id)).size).toBe(1)
  })

  test('with a trace of what it reports, in order, and the last words of the agent as its result', async () => {
    const { id, log, report } = await newSession()
    await log(user('Run the tests'))
    await log({
      ...agent(
        { type: 'thinking', thinking: 'Which ones?' },
        { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm test' } },
      ),
      timestamp: '2026-11-20T10:00:00.000Z',
    })
    await log({
      ...user([{ type: 'tool_result', tool_use_id: 't1', content: [text('2 passed')] }]),
      timestamp: '2026-11-20T10:00:03.000Z',
    })
    await log({ type: 'summary', summary: 'Tests were run' })
    await log({
      type: 'assistant',
      isApiErrorMessage: true,
      message: { model: '<synthetic>', content: [text('API Error: overloaded')] },
    })
    await log(agent(text('They pass.')))
    await log(agent({ type: 'tool_use', id: 't2', name: 'Read', input: { file_path: 'a' } }))
    expect((await report('COMPLETE')).status).toBe(200)

    const run = await getRun(id)
    expect(run).toMatchObject({
      status: 'completed',
      result: 'They pass.',
      prompt: 'Run the tests',
      title: 'Run the tests',
      model: 'claude-sonnet-4-5',
      turn: 1,
    })
    expect(run.usage.cost_usd).toBeNull()
    const logs = await allLogs(app, id)
    expect(typesOf(logs)).toEqual([
      'USER_MESSAGE',
      'PLAN_EVALUATION',
      'ACTION',
      'ACTION',
      'ERROR',
      'PLAN_EVALUATION',
      'ACTION',
      'FINAL_ANSWER',
    ])
    expect(logs[2]).toMatchObject({
      tool_name: 'Bash',
      tool_input: { command: 'npm test' },
      tool_output: { status: 'ok', output: '2 passed' },
      duration_ms: 3000,
    })
    expect(logs[3]).toMatchObject({
      tool_name: 'session_summary',
      tool_output: { summary: 'Tests were run' },
    })
    expect(logs[4]).toMatchObject({ observation: { message: 'API Error: overloaded' } })
    expect(logs[6]).toMatchObject({ tool_name: 'Read', tool_output: { status: 'unknown' } })
    expect(logs[7]).toMatchObject({ observation: 'They pass.' })
  })

  test('that ends as reported, takes late log entries, and begins a new turn with ACTIVE', async () => {
    const { id, log, report } = await newSession()
    await report('ERROR')
    expect(await getRun(id)).toMatchObject({ status: 'failed', status_reason: 'agent_error', terminal: true })
    await report('ACTIVE')
    expect(await getRun(id)).toMatchObject({ status: 'running', turn: 2, finished_at: null, error: null })
    await report('COMPLETE')
    await log(agent(text('Sent after the end was reported.')))
    expect(await getRun(id)).toMatchObject({
      status: 'completed',
      result: 'Sent after the end was reported.',
      turn: 2,
    })
    expect((await allLogs(app, id)).at(-1)).toMatchObject({ message_type: 'FINAL_ANSWER', turn: 2 })
    await report('ERROR')
    expect(await getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('whose followers are notified of every report that changes it, and whose events state its status', async () => {
    const { id, log, report } = await newSession()
    await using client = await listenToRuns(app)
    const reports: [string, () => Promise<unknown>][] = [
      ['a log', () => log(user('Go on'))],
      ['that it is still active', () => report('ACTIVE')],
      ['its end', () => report('COMPLETE')],
      ['a late log', () => log(agent(text('Done.')))],
      ['a new turn', () => report('ACTIVE')],
      ['an error', () => report('ERROR')],
    ]
    for (const [what, send] of reports) {
      await send()
      expect(await client.received(), what).toContain(`${app.org_id}:${id}`)
    }
    await report('COMPLETE')
    expect(await client.received(), 'an end of a session that has ended changes nothing').toEqual([])
    const events = await rows<{ body: string }>(
      app,
      'select body from events where run_id = $1 order by seq',
      [id],
    )
    expect(events.map(({ body }) => JSON.parse(body))).toEqual([
      { status: 'running' },
      { status: 'completed', status_reason: null },
      { status: 'running' },
      { status: 'failed', status_reason: 'agent_error' },
    ])
  })

  test.each([
    ['no type', {}],
    ['a message that is none', { type: 'user', message: 'x' }],
    [
      'blocks of no kind',
      {
        type: 'assistant',
        message: { content: [null, 1, 'x', [], { type: 'tool_use' }, { type: 'tool_result' }] },
      },
    ],
    [
      'a result of a call that nobody made',
      user([{ type: 'tool_result', tool_use_id: 'none', content: { a: 1 } }]),
    ],
    ['NUL and half a pair', user('\0 \ud800')],
    ['an input that is not an object', agent({ type: 'tool_use', id: 'x', name: '', input: [1] })],
    [
      'names of every object',
      { type: 'user', __proto__: 1, constructor: null, message: { content: [{ type: 'text', text: 7 }] } },
    ],
    ['a depth that is cut', { type: 'deep', value: JSON.parse(`${'['.repeat(40)}1${']'.repeat(40)}`) }],
  ])('that takes any log: %s', async (_what, log) => {
    const session = await newSession()
    expect((await session.log(log)).status).toBe(200)
    expect((await session.report('COMPLETE')).status).toBe(200)
    expect((await allLogs(app, session.id)).length).toBeGreaterThan(0)
  })

  test('without secrets in any field, and with truncated long texts', async () => {
    await app.call('PUT', `${org()}/secrets/DEPLOY_KEY`, { value: 'correct-horse-battery-staple' })
    const { id, log, report } = await newSession()
    await log(user('The key is correct-horse-battery-staple'))
    await log(
      agent({
        type: 'tool_use',
        id: 'a',
        name: 'Bash',
        input: { command: 'echo correct-horse-battery-staple' },
      }),
    )
    await log(
      user([
        {
          type: 'tool_result',
          tool_use_id: 'a',
          content: `${'x'.repeat(40_000)}correct-horse-battery-staple${'y'.repeat(200_000)}`,
        },
      ]),
    )
    await log(agent(text(`Use ghp_${'a1B2c3D4e5'.repeat(3)}F6g7h8, or correct-horse-battery-staple.`)))
    await report('COMPLETE')
    const everything = JSON.stringify(
      await rows(
        app,
        `select r.*, s.*
          from runs r
          join recorded_sessions s on s.run_id = r.id
          where r.id = $1`,
        [id],
      ),
    )
    const logs = await allLogs(app, id)
    for (const kept of [everything, JSON.stringify(logs), JSON.stringify(await getRun(id))]) {
      expect(kept).not.toContain('battery-staple')
      expect(kept).not.toContain('a1B2c3D4e5')
    }
    expect(logs[0]).toMatchObject({ redactions: { DEPLOY_KEY: 1 } })
    expect(logs[1]).toMatchObject({ truncated: true, redactions: { DEPLOY_KEY: 1 } })
    expect(JSON.stringify(logs[1]).length).toBeLessThan(100_000)
  })
})

describe('a session without a worker', () => {
  test('counts in no usage and occupies no slot of another run', async () => {
    const usage = async () => (await app.call('GET', `${org()}/usage`)).body
    const before = await usage()
    const { report } = await newSession()
    await report('COMPLETE')
    expect(await usage()).toEqual(before)
    await rows(app, 'update organizations set max_concurrent_runs = 1 where id = $1', [app.org_id])
    await newSession()
    const { id: queued } = (await post('agent/run', { prompt: 'x' })).body
    expect(await claimRun(app.db, { owner: 'a test', seconds: 60, turn_seconds: 60 })).toMatchObject({
      id: queued,
    })
  })

  test('409: is not paused, resumed or forked; 400: nor given a model', async () => {
    const { id, log } = await newSession()
    await log(user('x'))
    for (const [verb, more] of [
      ['pause', {}],
      ['resume', { prompt: 'x' }],
      ['fork', { from_seq: 1 }],
    ] as const)
      expect(
        expectProblem(await post(`agent/run/${verb}`, { agent_run_id: id, ...more }), 409).detail,
      ).toContain('recording of a local agent session')
    expect(
      expectProblem(await app.call('PATCH', `${org()}/agent/run/${id}`, { budget: { max_steps: 1 } }), 400)
        .detail,
    ).toContain('budget')
    expect(
      (await app.call('PATCH', `${org()}/agent/run/${id}`, { title: 'Mine', archived: true })).body,
    ).toMatchObject({
      title: 'Mine',
      archived: true,
    })
  })

  test.each(['stop', 'ban'])(
    '409 after a %s, which is over at once; its run can be deleted, and the session recorded once more',
    async verb => {
      const { id, session_id, log, report } = await newSession()
      expect((await post(`agent/run/${verb}`, { agent_run_id: id })).body).toMatchObject({
        status: 'cancelled',
        terminal: true,
      })
      expectProblem(await log(user('x')), 409)
      for (const status of ['ACTIVE', 'COMPLETE', 'ERROR']) expectProblem(await report(status), 409)
      expect((await newSession(session_id)).id).toBe(id)
      expect((await app.call('DELETE', `${org()}/agent/run/${id}`)).status).toBe(200)
      expectProblem(await log(user('x')), 404)
      expect((await newSession(session_id)).id).not.toBe(id)
    },
  )

  test('is ended by the sweep when it stops reporting, and continued by its next report', async () => {
    const { id, log } = await newSession()
    const quiet = await newSession()
    await rows(app, `update runs set lease_until = now() - interval '1 second' where id = $1`, [quiet.id])
    await rows(
      app,
      `update runs
        set lease_until = now() - interval '1 second', deadline_at = now() - interval '1 second'
        where id = $1`,
      [id],
    )
    await awaitRun(app, id, run => run.status === 'failed')
    expect(await getRun(id)).toMatchObject({ status_reason: 'timeout', error: { code: 'session_silent' } })
    // Only workers have leases, and a session has no worker.
    expect(await getRun(quiet.id)).toMatchObject({ status: 'running' })
    await log(user('Back again'))
    expect(await getRun(id)).toMatchObject({ status: 'running', turn: 2, error: null })
    expect(typesOf(await allLogs(app, id))).toEqual(['ERROR', 'USER_MESSAGE'])
  })

  test('409 when it has the maximum number of entries, and the last one reports it', async () => {
    const { id, log } = await newSession()
    await rows(app, 'update runs set total_logs = 19998 where id = $1', [id])
    expect((await log(agent(text('a'), text('b'), text('c')))).status).toBe(200)
    expectProblem(await log(user('x')), 409)
    const [last] = await rows<{ body: string }>(
      app,
      'select body from log_entries where run_id = $1 order by seq desc limit 1',
      [id],
    )
    expect(last?.body).toContain('20000 entries')
  })
})

describe('400', () => {
  test.each([
    ['log', { log: 'x' }],
    ['log', { log: [] }],
    ['log', {}],
    ['status', { status: 'DONE' }],
  ])('for %s of %j, naming the field', async (path, body) => {
    const { session_id } = await newSession()
    expect(
      expectProblem(await post(`claude_code/session/${session_id}/${path}`, body), 400).errors[0]?.loc,
    ).toEqual(['body', path])
  })

  test('for a name that is too long', async () => {
    expectProblem(await post('claude_code/session', { session_id: 'x'.repeat(101) }), 400)
  })
})
