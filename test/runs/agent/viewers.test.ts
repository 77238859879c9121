import pg from 'pg'
import { expect, test } from 'vitest'
import { Hub } from '../../../src/live/hub.ts'
import { Listener } from '../../../src/live/listener.ts'
import { createBackgroundRedactor } from '../../../src/redaction/background-redactor.ts'
import type { Transactional } from '../../../src/store/database.ts'
import { channels } from '../../../src/store/notify.ts'
import { entry } from '../../../src/trace/entry.ts'
import { Control } from '../../../src/worker/claim/control.ts'
import { startHeartbeat } from '../../../src/worker/claim/heartbeat.ts'
import { LeaseKeeper } from '../../../src/worker/claim/lease-keeper.ts'
import { LiveChannel } from '../../../src/worker/claim/live-channel.ts'
import { RunWriter } from '../../../src/worker/claim/run-writer.ts'
import { ViewerPresence } from '../../../src/worker/claim/viewer-presence.ts'
import { putRun } from '../../api/runs/put-run.ts'
import { openFrames, type StreamFrame } from '../../api/trace/read-frames.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { createRun } from '../await-run.ts'

/** Every database notification from now on; `until` resolves with them as soon as they fit. */
async function listenToAll(app: App) {
  const notifications: string[] = []
  let poll = () => {}
  const client = new pg.Client({ connectionString: app.database_url })
  client.on('notification', ({ payload = '' }) => {
    notifications.push(payload)
    poll()
  })
  await client.connect()
  await client.query(`listen ${channels.run}; listen ${channels.live}`)
  return {
    notifications,
    async until(fits: (notifications: string[]) => boolean) {
      const { promise, resolve } = Promise.withResolvers<void>()
      poll = () => fits(notifications) && resolve()
      poll()
      await promise
      return notifications
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

/** A claimed run, as its worker writes to it. */
async function claimOf(app: App, viewers: ViewerPresence) {
  const { id } = await createRun(app, { prompt: 'x' })
  await putRun(app, id, 'running')
  const [row] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [id])
  return new RunWriter(app.db, { organization_id: app.org_id, id, epoch: row?.epoch ?? 0 }, app.db, viewers)
}

test('events of a run are published only while it has a viewer, from the moment at which it gets one', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  let now = 0
  const viewers = new ViewerPresence(() => now)
  const writer = await claimOf(app, viewers)
  const live = new LiveChannel(writer)
  const hub = new Hub()
  await using listener = new Listener(app.database_url, hub, null)
  await listener.start()
  await using leases = new LeaseKeeper({ connection_string: app.database_url, owner: 'viewed' }, () => {})
  const heartbeat = startHeartbeat({ hub, leases }, writer, live, new Control())
  now = Number.MAX_SAFE_INTEGER / 2

  await using ear = await listenToAll(app)
  const publish = async (text: string) => {
    await writer.append({ entries: [entry({ message_type: 'ACTION', tool_name: 'shell', thought: text })] })
    live.addText({ event: 'text', text })
  }
  // The texts end with "!", which no credential begins with: the redactor holds nothing back.
  await publish('without viewer!')
  const seen = Promise.withResolvers<void>()
  const watch = viewers.seen.bind(viewers)
  viewers.seen = () => {
    watch()
    seen.resolve()
  }
  await using stream = await openFrames(
    app,
    `/v1/organizations/${app.org_id}/agent/run/${writer.run_id}/events`,
  )
  await seen.promise
  await publish('with viewer!')
  const frames = await stream.until(
    all =>
      all.some(frame => frame.event === 'text') && all.filter(frame => frame.event === 'log').length === 3,
  )
  // A later viewer also gets the earlier entry: it is in the trace.
  expect(frames.filter(frame => frame.event === 'log').map(frame => JSON.parse(frame.data).thought)).toEqual([
    null,
    'without viewer!',
    'with viewer!',
  ])
  const run_payload = `${app.org_id}:${writer.run_id}`
  // The notification of the entry and that of the text take connections of their own: either may be first.
  const notifications = await ear.until(
    all => all.some(payload => payload.includes('"with viewer!"')) && all.includes(run_payload),
  )
  // What came before the viewer is summed up once, for it.
  const earlier = notifications.filter(payload => payload.includes('without viewer'))
  expect(earlier.filter(payload => !payload.startsWith(`${run_payload}:{"event":"so_far",`))).toEqual([])
  expect(earlier.length).toBeLessThanOrEqual(1)
  expect(notifications[0]).toBe(`${run_payload}:{"event":"watched"}`)
  await heartbeat.stop()
  live.close()
  writer.close()
})

test('a change of status is published whether the run has a viewer or not', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  let now = 0
  const writer = await claimOf(app, new ViewerPresence(() => now))
  now = Number.MAX_SAFE_INTEGER / 2
  await using ear = await listenToAll(app)
  expect(await writer.change({ from: ['running'], to: 'completed', result: 'done' })).toBe(true)
  expect(await ear.until(notifications => notifications.length > 0)).toEqual([
    `${app.org_id}:${writer.run_id}`,
  ])
})

test('notifications of a moment are sent in their order by one statement, and the first viewer is notified of earlier entries', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const { run_id, epoch } = await claimOf(app, new ViewerPresence())
  let statements = 0
  const counted: Transactional = {
    query: query => {
      statements++
      return app.db.query(query)
    },
    transaction: work => app.db.transaction(work),
  }
  const writer = new RunWriter(counted, { organization_id: app.org_id, id: run_id, epoch })
  await using ear = await listenToAll(app)
  writer.notify()
  writer.publish('{"event":"text","data":{"text":"unseen"}}')
  writer.viewerSeen()
  writer.publish('{"event":"text","data":{"text":"a"}}')
  writer.notify()
  writer.publish('{"event":"text","data":{"text":"b"}}')
  const payload = `${app.org_id}:${run_id}`
  expect(await ear.until(all => all.includes(payload))).toEqual([
    `${payload}:{"event":"text","data":{"text":"a"}}`,
    `${payload}:{"event":"text","data":{"text":"b"}}`,
    payload,
  ])
  expect(statements).toBe(1)
  writer.close()
})

test('a viewer that comes late gets the end of the output once, redacted and bounded, and then what follows', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const value = 'kQ7wXz2mN9pLr4Ts'
  const writer = await claimOf(app, new ViewerPresence())
  writer.protect(createBackgroundRedactor([{ name: 'A', value }]), { report: async () => {} })
  const live = new LiveChannel(writer)
  const hub = new Hub()
  // The worker has a connection of its own to the database, as one in another process has.
  await using listener = new Listener(app.database_url, hub, null)
  await listener.start()
  await using leases = new LeaseKeeper({ connection_string: app.database_url, owner: 'viewed' }, () => {})
  const heartbeat = startHeartbeat({ hub, leases }, writer, live, new Control())
  const print = (text: string) => live.addText({ event: 'output', call_id: 'c1', text })
  const openReader = () =>
    openFrames(app, `/v1/organizations/${app.org_id}/agent/run/${writer.run_id}/events`)
  const textOf = (frames: StreamFrame[], event: string) =>
    frames.filter(frame => frame.event === event).map(({ data }) => data)

  print(`${`filler ${value}\n`.repeat(2_000)}unseen!\n`)
  await using first = await openReader()
  const [summed = ''] = textOf(await first.until(all => textOf(all, 'so_far').length > 0), 'so_far')
  expect(Buffer.byteLength(summed)).toBeLessThanOrEqual(7_000)
  expect(summed).not.toContain(value)
  expect(JSON.parse(summed).parts).toEqual([
    { event: 'output', call_id: 'c1', text: expect.stringMatching(/redacted:A\]\nunseen!\n$/) },
  ])

  print('seen by the first!\n')
  await first.until(all => textOf(all, 'output').join('').includes('seen by the first!'))
  await using second = await openReader()
  await second.until(all => textOf(all, 'so_far').length > 0)
  print('seen by both!\n')
  const late = await second.until(all => textOf(all, 'output').length > 0)
  expect(textOf(late, 'so_far').map(data => JSON.parse(data).parts[0].text)).toEqual([
    expect.stringMatching(/unseen!\nseen by the first!\n$/),
  ])
  expect(textOf(late, 'output').map(data => JSON.parse(data).text)).toEqual(['seen by both!\n'])
  const early = await first.until(all => textOf(all, 'output').length > 1)
  expect(textOf(early, 'so_far')).toHaveLength(1)
  await heartbeat.stop()
  live.close()
  writer.close()
})
