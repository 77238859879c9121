import { describe, expect, expectTypeOf, test } from 'vitest'
import { type AgentRun, AgentRunError, createClient, type LogEntry } from '../../src/client/sdk/client.ts'
import { addOldMembership } from '../api/members/people.ts'
import { putRun } from '../api/runs/put-run.ts'
import { createRun } from '../runs/await-run.ts'
import { startCutProxy } from './cut-proxy.ts'
import { collect, range, seqs, startSdk } from './start-sdk.ts'

const { app, other, clientOf, grow, newRun, end } = await startSdk()

describe('calls', () => {
  test('every operation can be called by its name, typed, in the only organization of the token', async () => {
    const client = clientOf()
    const models = await client.call('listModels')
    expectTypeOf(models.default_model).toEqualTypeOf<string>()
    expect(models.default_model).toMatch(/^scripted\//)
    const page = await client.call('listAgentRuns', {
      query: { limit: 1, archived: false, status: 'queued' },
    })
    expectTypeOf(page.items).toEqualTypeOf<AgentRun[]>()
    expect(page.size).toBe(1)
    expect(await client.organization()).toBe(app.org_id)
    expect(await createClient({ base_url: `${app.base_url}/` }).call('getHealth')).toEqual({ status: 'ok' })
    expect((await client.request('getOpenApi')).headers.get('content-type')).toContain('application/json')
  })

  test('what an operation needs must be given, or it does not compile', () => {
    const client = clientOf()
    expectTypeOf(client.call<'getAgentRun'>)
      .parameter(1)
      .toExtend<{ params: { agent_run_id: number; org_id?: number } }>()
    expectTypeOf(client.call<'listAgentRuns'>).toBeCallableWith('listAgentRuns')
    expectTypeOf<{ body: { prompt: string; budget: { max_cost_usd: number } } }>().toExtend<
      Parameters<typeof client.call<'createAgentRun'>>[1]
    >()
    expectTypeOf<{ body: { title: string } }>().not.toExtend<
      Parameters<typeof client.call<'createAgentRun'>>[1]
    >()
    expectTypeOf<'streamAgentRunEvents'>().not.toExtend<Parameters<typeof client.call>[0]>()
  })

  test('a refusal is an AgentRunError with status, code, fields and request id', async () => {
    const error = await clientOf()
      .runs.create({ prompt: '  ', model: 'nobody/nothing' })
      .catch(error => error)
    expect(error).toBeInstanceOf(AgentRunError)
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_request',
      retry_after_ms: null,
      request_id: expect.stringMatching(/^[\w-]{36}$/),
      errors: [{ loc: ['body', 'prompt'], msg: expect.any(String) }],
      problem: { status: 400 },
    })
    expect(error.message).toBe(error.problem.detail)
    await expect(clientOf({ organization_id: other.org_id }).runs.list()).rejects.toMatchObject({
      status: 403,
      code: 'forbidden',
    })
    await expect(createClient({ base_url: app.base_url }).runs.list()).rejects.toMatchObject({ status: 401 })
  })

  test('a token of several organizations gets their list', async () => {
    await addOldMembership(app, other.org_id, app.user_id, 'MEMBER')
    await expect(clientOf().runs.list()).rejects.toMatchObject({
      code: 'organization_needed',
      detail: expect.stringContaining(`${other.org_id} (`),
    })
    expect((await clientOf({ organization_id: app.org_id }).repositories()).total).toBe(1)
    await app.db.query({
      text: 'delete from memberships where organization_id = $1 and user_id = $2',
      values: [other.org_id, app.user_id],
    })
  })

  test('an invalid address is refused before any request', async () => {
    expect(() => clientOf({ base_url: 'localhost:4600' })).toThrow(TypeError)
    await expect(clientOf().call('getAgentRun', { params: {} as { agent_run_id: number } })).rejects.toThrow(
      'agent_run_id is missing',
    )
  })
})

describe('pages', () => {
  test('awaited, logs are one page; iterated over, every entry once and in order, however many pages', async () => {
    const id = await newRun(250)
    const logs = clientOf().runs.logs(id, { limit: 40 })
    expect(await logs).toMatchObject({ id, size: 40, total_logs: 250 })
    const entries = await collect(logs)
    expectTypeOf(entries).toEqualTypeOf<LogEntry[]>()
    expect(entries.map(({ seq }) => seq)).toEqual(range(1, 250))
    expect((await collect(logs.pages())).map(page => page.logs.length)).toEqual([40, 40, 40, 40, 40, 40, 10])
  })

  test('order, filter, start and an exact last page', async () => {
    const id = await newRun(201)
    const { logs } = clientOf().runs
    const seen = async (query: Parameters<typeof logs>[1]) =>
      (await collect(logs(id, query))).map(({ seq }) => seq)
    expect(await seen({ reverse: true, limit: 67 })).toEqual(range(1, 201).reverse())
    expect(await seen({ message_type: 'PLAN_EVALUATION', limit: 30 })).toEqual(
      range(1, 100).map(n => 2 * n + 1),
    )
    expect(await seen({ skip: 150, limit: 20 })).toEqual(range(151, 201))
    expect(await seen({ after_seq: 101 })).toEqual(range(102, 201))
    expect(await seen({ skip: 1000 })).toEqual([])
  })

  test('a list gives each run once although new ones push the others on', async () => {
    const ids: number[] = []
    for (let i = 0; i < 7; i++) ids.push((await createRun(app, { prompt: 'x', tags: ['moving'] })).id)
    const seen: number[] = []
    for await (const run of clientOf().runs.list({ tag: 'moving', limit: 3 })) {
      if (seen.length === 2) await createRun(app, { prompt: 'x', tags: ['moving'] })
      seen.push(run.id)
    }
    expect(seen).toEqual(ids.reverse())
    const all = await clientOf().runs.list({ tag: 'moving' })
    expect(
      (await clientOf().runs.list({ tag: ['moving', 'nobody'], source_type: ['API', 'SLACK'] as const }))
        .total,
    ).toBe(all.total)
    expect((await clientOf().runs.list({ tag: 'moving', status: ['failed', 'paused'] })).total).toBe(0)
    const from_second = await collect(clientOf().runs.list({ tag: 'moving', page: 2, size: 3 }))
    expect(from_second.map(({ id }) => id)).toEqual(ids.slice(2))
  })
})

describe('runs', () => {
  test('each operation returns its result: change, archive, pause, stop, diff', async () => {
    const { runs } = clientOf()
    const id = await newRun(1)
    expect(await runs.update(id, { title: 'Named', tags: ['a'] })).toMatchObject({
      title: 'Named',
      tags: ['a'],
    })
    expect(await runs.archive(id)).toMatchObject({ archived: true })
    expect(await runs.unarchive(id)).toMatchObject({ archived: false })
    expect(await runs.diff(id)).toMatchObject({ agent_run_id: id, files: [] })
    expect(await runs.patch(id)).toBe('')
    expect(await runs.diff(id, { from_seq: 0, to_seq: 1 })).toMatchObject({
      from_seq: 0,
      to_seq: 1,
      files: [],
    })
    const forked = await runs.fork(id, 1)
    expect(forked).toMatchObject({
      source_type: 'FORK',
      parent_run_id: id,
      forked_at_seq: 1,
      prompt: 'Continue.',
    })
    expect(await runs.fork(id, { from_seq: 2, prompt: 'Otherwise' })).toMatchObject({ prompt: 'Otherwise' })
    expect(await runs.pause(id).wait()).toMatchObject({ status: 'paused', status_reason: 'user_request' })
    expect(await runs.stop(id)).toMatchObject({ status: 'cancelled' })
    expect(await runs.get(id)).toMatchObject({ id, status: 'cancelled' })
  })

  test('a create can be rehearsed, and is typed as what it then is', async () => {
    const { runs } = clientOf()
    // Workers are there, for all that this service knows.
    await app.db.query({ text: 'update workers set concurrency = 1' })
    const response = await runs.dryRun({ prompt: 'x', model: 'nobody/nothing', tags: ['rehearsed'] })
    expectTypeOf(response.dry_run).toEqualTypeOf<true>()
    expect(response).toMatchObject({
      dry_run: true,
      model: null,
      blocking_problems: expect.arrayContaining([expect.objectContaining({ code: 'invalid_request' })]),
    })
    expect((await runs.list({ tag: 'rehearsed' })).total).toBe(0)
  })

  test('a create whose response was cut off is retried and creates one run, a resume one message', async () => {
    let responses = 0
    // Nothing of the first response comes through, and half of the second.
    await using proxy = await startCutProxy(app.base_url, () => [0, 700][responses++] ?? null)
    const { runs } = clientOf({ base_url: proxy.base_url, organization_id: app.org_id })
    const tag = 'cut'
    const run = await runs.create({ prompt: 'x', tags: [tag] })
    expect(await runs.list({ tag })).toMatchObject({ total: 1, items: [{ id: run.id }] })
    expect(responses).toBeGreaterThanOrEqual(3)
    responses = 0
    proxy.cut()
    await runs.resume(run.id, 'Go on')
    expect((await collect(runs.logs(run.id))).map(({ message_type }) => message_type)).toEqual([
      'USER_MESSAGE',
      'USER_MESSAGE',
    ])
  })

  test('wait returns the run that has ended, is paused or waits for a person, and a follow-up can be waited for again', async () => {
    const { runs } = clientOf()
    const created = runs.create({ prompt: 'x' })
    const { id } = await created
    const waited = created.wait()
    await end(id, 'waiting')
    expect(await waited).toMatchObject({ id, status: 'waiting', waiting_on: 'user_input' })

    const resumed = runs.resume(id, 'The answer')
    const responded = await resumed
    expect(responded).toMatchObject({ status: 'waiting', waiting_on: 'slot' })
    const rested = resumed.wait()
    const followed = collect(resumed.follow({ until: 'rest', after_seq: responded.total_logs }))
    await putRun(app, id, 'running')
    await grow(id, 1)
    await end(id, 'paused')
    expect(await rested).toMatchObject({ status: 'paused' })
    expect(seqs(await followed)).toEqual([responded.total_logs + 1])
    expect(await runs.wait(id)).toMatchObject({ status: 'paused' })
    await runs.resume(id, { prompt: 'Go on', mode: 'steer' })
    await end(id)
    expect(await runs.wait(id)).toMatchObject({ status: 'completed', result: 'done' })
  })

  test('a token of the profile codegen gets other status names, and waiting for its runs works', async () => {
    const body = { name: 'another profile', wire_profile: 'codegen' as const }
    const { token } = await clientOf().call('createToken', { body })
    const { runs } = createClient({ base_url: app.base_url, token })
    const id = await newRun(1)
    await end(id, 'paused')
    expect(await runs.wait(id)).toMatchObject({ status: 'PAUSED' })
    await end(id)
    expect(await runs.wait(id)).toMatchObject({ status: 'COMPLETE' })
    await expect(runs.create({ prompt: '' })).rejects.toMatchObject({
      status: 422,
      detail: expect.any(String),
      errors: [{ loc: ['body', 'prompt'] }],
    })
  })

  test('wait gives up after its time or at an abort, and the run continues', async () => {
    const id = await newRun(1)
    await expect(clientOf().runs.wait(id, { timeout_ms: 100 })).rejects.toMatchObject({
      code: 'timeout',
      status: 0,
    })
    const reason = new Error('enough')
    const abort = new AbortController()
    const waited = clientOf().runs.wait(id, { signal: abort.signal })
    abort.abort(reason)
    await expect(waited).rejects.toBe(reason)
    expect((await clientOf().runs.get(id)).terminal).toBe(false)
    await expect(clientOf().runs.wait(424_242)).rejects.toMatchObject({ status: 404, code: 'not_found' })
  })

  test('wait polls instead of listening where streams are refused', async () => {
    const id = await newRun(1)
    const requested: string[] = []
    const withoutStreams: typeof fetch = async (input, init) => {
      const path = new URL(String(input)).pathname.split('/').at(-1) ?? ''
      requested.push(path)
      if (requested.filter(item => item === String(id)).length === 1) await end(id)
      return path === 'events' ? Response.json({}, { status: 403 }) : fetch(input, init)
    }
    expect(await clientOf({ fetch: withoutStreams }).runs.wait(id)).toMatchObject({ status: 'completed' })
    expect(requested.filter(path => path !== 'organizations')).toEqual(['events', String(id)])
  })
})
