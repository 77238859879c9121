import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LogEntry } from '../../../src/contract/runs/logs.ts'
import { AgentRun } from '../../../src/contract/runs/runs.ts'
import { liveNotification, notifyAll, notifyRun } from '../../../src/store/notify.ts'
import { append } from '../../../src/store/runs/append.ts'
import { entry } from '../../../src/trace/entry.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun } from '../runs/put-run.ts'
import { openFrames, readFrames, type StreamFrame } from './read-frames.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const events = (id: number, query = '') => `/v1/organizations/${app.org_id}/agent/run/${id}/events${query}`
const logIds = (frames: StreamFrame[]) =>
  frames.filter(frame => frame.event === 'log').map(frame => Number(frame.id))
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

async function grow(id: number, count: number) {
  const entries = Array.from({ length: count }, (_, i) =>
    entry({ message_type: 'PLAN_EVALUATION', thought: `${i}` }),
  )
  await append(app.db, app.org_id, id, null, { entries })
  await notifyRun(app.db, app.org_id, id)
}
async function newRun(count: number): Promise<number> {
  const { id } = await createRun(app, { prompt: 'x' })
  if (count > 1) await grow(id, count - 1)
  return id
}

describe('200', () => {
  test('entries with their seq as id and byte for byte as the log page has them, then the run without an id', async () => {
    const id = await newRun(3)
    await using reader = await openFrames(app, events(id))
    expect(reader.status).toBe(200)
    expect(Object.fromEntries(reader.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.stringMatching(/^[\w-]{36}$/),
    })
    const frames = await reader.until(seen => seen.length === 4)
    expect(frames.map(frame => [frame.event, frame.id])).toEqual([
      ['log', '1'],
      ['log', '2'],
      ['log', '3'],
      ['run', null],
    ])
    const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}/logs`)
    expect(frames.slice(0, 3).map(frame => LogEntry.strict().parse(JSON.parse(frame.data)))).toEqual(
      body.logs,
    )
    const run = AgentRun.strict().parse(JSON.parse(frames[3]?.data ?? ''))
    expect(run).toEqual((await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body)
  })

  test('later entries are sent as they are written, and the run after each change', async () => {
    const id = await newRun(1)
    await using reader = await openFrames(app, events(id))
    await reader.until(seen => seen.some(frame => frame.event === 'run'))
    await grow(id, 2)
    await reader.until(seen => logIds(seen).length === 3)
    await app.call('PATCH', `/v1/organizations/${app.org_id}/agent/run/${id}`, { title: 'Renamed' })
    await reader.until(seen =>
      seen.some(frame => frame.event === 'run' && JSON.parse(frame.data).title === 'Renamed'),
    )
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })
    const frames = await reader.until(seen =>
      seen.some(frame => frame.event === 'run' && JSON.parse(frame.data).terminal),
    )
    expect(logIds(frames)).toEqual([1, 2, 3])
  })

  test('after_seq and Last-Event-ID continue after that entry, the header wins', async () => {
    const id = await newRun(250)
    const all = (from: number) => (seen: StreamFrame[]) => logIds(seen).length === 250 - from
    expect(logIds(await readFrames(app, events(id, '?after_seq=100'), all(100)))).toEqual(range(101, 250))
    expect(logIds(await readFrames(app, events(id), all(7), { 'last-event-id': '7' }))).toEqual(range(8, 250))
    expect(
      logIds(await readFrames(app, events(id, '?after_seq=0'), all(249), { 'last-event-id': '249' })),
    ).toEqual([250])
    expect(
      logIds(await readFrames(app, events(id, '?after_seq=0'), all(0), { 'last-event-id': '' })),
    ).toEqual(range(1, 250))
    for (const beyond of [250, 999_999_999]) {
      const frames = await readFrames(app, events(id, `?after_seq=${beyond}`), seen => seen.length === 1)
      expect(frames.map(frame => frame.event)).toEqual(['run'])
    }
  })

  test('a reader whose connection breaks repeatedly gets each entry once and in order', async () => {
    const id = await newRun(1)
    const total = 400
    const writing = (async () => {
      for (let written = 1; written < total; written += 7) await grow(id, Math.min(7, total - written))
    })()
    const seen: number[] = []
    while (seen.length < total) {
      const wanted = Math.min(37, total - seen.length)
      const headers: Record<string, string> =
        seen.length === 0 ? {} : { 'last-event-id': String(seen.at(-1)) }
      seen.push(
        ...logIds(await readFrames(app, events(id), frames => logIds(frames).length >= wanted, headers)),
      )
    }
    await writing
    expect(seen).toEqual(range(1, total))
  })

  test('two readers at different positions do not disturb each other', async () => {
    const id = await newRun(500)
    await using late = await openFrames(app, events(id, '?after_seq=499'))
    await late.until(seen => logIds(seen).length === 1)
    await using early = await openFrames(app, events(id))
    await grow(id, 100)
    expect(logIds(await early.until(seen => logIds(seen).length === 600))).toEqual(range(1, 600))
    expect(logIds(await late.until(seen => logIds(seen).length === 101))).toEqual(range(500, 600))
  })

  test('a client that gets the end of the run has all its entries', async () => {
    for (let i = 0; i < 10; i++) {
      const id = await newRun(1)
      await using reader = await openFrames(app, events(id))
      await reader.until(seen => seen.length >= 2)
      await Promise.all([1, 2, 3].map(() => grow(id, 60)))
      await putRun(app, id, 'completed')
      await notifyRun(app.db, app.org_id, id)
      const frames = await reader.until(seen =>
        seen.some(frame => frame.event === 'run' && JSON.parse(frame.data).terminal),
      )
      expect(logIds(frames)).toEqual(range(1, 181))
    }
  })

  test('ephemeral events have no id', async () => {
    const id = await newRun(1)
    await using reader = await openFrames(app, events(id))
    await reader.until(seen => seen.length === 2)
    await notifyAll(app.db, [liveNotification(app.org_id, id, '{"event":"output","data":{"text":"line"}}')])
    await notifyAll(app.db, [liveNotification(app.org_id, id, '{"event":"log","data":{"forged":true}}')])
    await notifyAll(app.db, [
      liveNotification(other.org_id, id, '{"event":"output","data":{"text":"foreign"}}'),
    ])
    await notifyAll(app.db, [liveNotification(app.org_id, id, '{"event":"output","data":{"text":"end"}}')])
    const frames = await reader.until(seen => seen.some(frame => frame.data.includes('end')))
    expect(frames.slice(2)).toEqual([
      { event: 'output', id: null, data: '{"text":"line"}' },
      { event: 'output', id: null, data: '{"text":"end"}' },
    ])
  })
})

describe('400', () => {
  test.each(['abc', '-1', '1e3', '0x1', '1.0', '1, 2', '1000000000'])(
    'a Last-Event-ID of %j',
    async value => {
      const id = await newRun(1)
      expectProblem(
        await app.call('GET', events(id), undefined, { 'last-event-id': value }),
        400,
        'header.Last-Event-ID',
      )
    },
  )

  test.each(['x', '-1', '', '1000000000'])('an after_seq of %j', async value => {
    const id = await newRun(1)
    expectProblem(await app.call('GET', events(id, `?after_seq=${value}`)), 400, 'query.after_seq')
  })
})

describe('403 and 404', () => {
  test("another organization's stream is not reachable by its own path and by ours", async () => {
    expectProblem(
      await app.call('GET', `/v1/organizations/${other.org_id}/agent/run/${other.run_id}/events`),
      403,
    )
    expectProblem(await app.call('GET', events(other.run_id)), 404)
    expectProblem(await app.call('GET', events(424_242)), 404)
  })
})

test('a stop of the service ends every stream', async () => {
  const stopping = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const { id } = await createRun(stopping, { prompt: 'x' })
  const path = `/v1/organizations/${stopping.org_id}`
  const readers = [
    await openFrames(stopping, `${path}/agent/run/${id}/events`),
    await openFrames(stopping, `${path}/events`),
  ]
  await readers[0]?.until(seen => seen.length === 2)
  await stopping[Symbol.asyncDispose]()
  expect((await Promise.all(readers.map(reader => reader.closed()))).map(frames => frames.length)).toEqual([
    2, 0,
  ])
})
