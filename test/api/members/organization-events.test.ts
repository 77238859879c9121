import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AgentRun } from '../../../src/contract/runs/runs.ts'
import { notifyRun } from '../../../src/store/notify.ts'
import { insertEvent } from '../../../src/store/runs/organization-events.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { openFrames, readFrames, type StreamFrame } from '../trace/read-frames.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const events = (query = '', org_id = app.org_id) => `/v1/organizations/${org_id}/events${query}`
const run = (verb: string, id: number) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/${verb}`, { agent_run_id: id, prompt: 'more' })
const reported = (frames: StreamFrame[]) =>
  frames.map(
    frame =>
      JSON.parse(frame.data) as { seq: number; type: string; agent_run_id: number; run: { status: string } },
  )
const last = async () =>
  (
    await rows<{ seq: number }>(app, 'select event_seq as seq from organizations where id = $1', [app.org_id])
  )[0]?.seq ?? 0

describe('200', () => {
  test('without a position it starts now, and reports creations, transitions and changes, with the current run', async () => {
    const before = await createRun(app, { prompt: 'before' })
    const start = await last()
    await using reader = await openFrames(app, events())
    expect(reader.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const { id } = await createRun(app, { prompt: 'x' })
    await app.call('PATCH', `/v1/organizations/${app.org_id}/agent/run/${id}`, { title: 'Renamed' })
    await run('resume', id)
    await run('stop', id)
    await run('archive', before.id)
    const frames = await reader.until(seen => seen.length === 6)
    expect(frames.map(frame => [frame.event, Number(frame.id)])).toEqual(
      [1, 2, 3, 4, 5, 6].map(n => ['run', start + n]),
    )
    expect(reported(frames).map(({ type, agent_run_id }) => [type, agent_run_id])).toEqual([
      ['agent_run.created', id],
      ['agent_run.updated', id],
      ['agent_run.updated', id],
      ['agent_run.status', id],
      ['agent_run.status', id],
      ['agent_run.updated', before.id],
    ])
    for (const [i, event] of reported(frames).entries()) {
      expect(event.seq).toBe(start + i + 1)
      expect(AgentRun.strict().parse(event.run)).toMatchObject({
        id: event.agent_run_id,
        organization_id: app.org_id,
      })
    }
    expect(reported(frames)[4]?.run.status).toBe('cancelled')
  })

  test('after_seq and Last-Event-ID continue from there, without gaps or duplicates, despite concurrent writes', async () => {
    const { id } = await createRun(app, { prompt: 'x' })
    const start = await last()
    const writing = Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let i = 0; i < 10; i++)
          await app.call('PATCH', `/v1/organizations/${app.org_id}/agent/run/${id}`, { title: `t${i}` })
      }),
    )
    const seen: number[] = []
    while (seen.length < 60) {
      const from = String(start + seen.length)
      const wanted = Math.min(9, 60 - seen.length)
      const [query, headers]: [string, Record<string, string>] =
        seen.length % 2 ? [`?after_seq=${from}`, {}] : ['?after_seq=0', { 'last-event-id': from }]
      seen.push(
        ...(await readFrames(app, events(query), frames => frames.length >= wanted, headers)).map(frame =>
          Number(frame.id),
        ),
      )
    }
    await writing
    expect(seen).toEqual(Array.from({ length: 60 }, (_, i) => start + i + 1))
  })

  test('an empty Last-Event-ID counts as absent: the stream starts now', async () => {
    await using reader = await openFrames(app, events(), { 'last-event-id': '' })
    const { id } = await createRun(app, { prompt: 'x' })
    expect(reported(await reader.until(seen => seen.length >= 1))[0]).toMatchObject({
      type: 'agent_run.created',
      agent_run_id: id,
    })
  })

  test('numbers are gap-free for each organization, and events of another are never visible', async () => {
    await using ours = await openFrames(app, events())
    await using theirs = await openFrames(app, events('?after_seq=0', other.org_id), {
      authorization: `Bearer ${other.token}`,
    })
    await theirs.until(seen => seen.length === 1)
    for (let i = 0; i < 5; i++) {
      await insertEvent(app.db, other.org_id, other.run_id, 'agent_run.updated', {})
      await notifyRun(app.db, other.org_id, other.run_id)
      await createRun(app, { prompt: `ours ${i}` })
    }
    const foreign = await theirs.until(seen => seen.length === 6)
    expect(foreign.map(frame => Number(frame.id))).toEqual([1, 2, 3, 4, 5, 6])
    for (const event of reported(foreign))
      expect(event.run).toMatchObject({ id: other.run_id, organization_id: other.org_id })
    const own = await ours.until(seen => seen.length === 5)
    for (const event of reported(own)) expect(event.run).toMatchObject({ organization_id: app.org_id })
    expect(own.map(frame => frame.data).join()).not.toContain('secret')
  })
})

describe('400', () => {
  test('an invalid position', async () => {
    expectProblem(
      await app.call('GET', events(), undefined, { 'last-event-id': 'x' }),
      400,
      'header.Last-Event-ID',
    )
    expectProblem(await app.call('GET', events('?after_seq=-1')), 400, 'query.after_seq')
  })
})

describe('403', () => {
  test('another organization', async () =>
    void expectProblem(await app.call('GET', events('', other.org_id)), 403))
})
