import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { Hub } from '../../../src/live/hub.ts'
import { Control } from '../../../src/worker/claim/control.ts'
import { startHeartbeat } from '../../../src/worker/claim/heartbeat.ts'
import { joinHeartbeats } from '../../../src/worker/claim/joined-heartbeats.ts'
import { LiveChannel } from '../../../src/worker/claim/live-channel.ts'
import { RunWriter } from '../../../src/worker/claim/run-writer.ts'
import { putRun } from '../../api/runs/put-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { createRun } from '../await-run.ts'

type Claim = { id: number; control: Control; stop(): Promise<void> }

/** Runs that one process has claimed, with their heartbeats. */
async function claims(app: App, count: number): Promise<Claim[]> {
  const heartbeats = joinHeartbeats(app.db)
  const all: Claim[] = []
  for (let n = 0; n < count; n++) {
    const { id } = await createRun(app, { prompt: 'x' })
    await putRun(app, id, 'running')
    await rows(app, `update runs set epoch = 7, lease_until = now() + interval '1 minute' where id = $1`, [id])
    const writer = new RunWriter(app.db, { organization_id: app.org_id, id, epoch: 7 })
    const control = new Control()
    const { stop } = startHeartbeat({ hub: new Hub(), heartbeats }, writer, new LiveChannel(writer), control)
    all.push({ id, control, stop })
  }
  return all
}

const first_lease = `now() + interval '30 seconds'`
/** Those whose lease a heartbeat has set: it ends earlier than the first one. */
const renewed = async (app: App) => {
  const found = await rows<{ id: number }>(app, `select id from runs where lease_until < ${first_lease} order by id`)
  return found.map(({ id }) => id)
}
const stopAll = (all: Claim[]) => Promise.all(all.map(({ stop }) => stop()))

test('the leases of all runs of a process are renewed by one statement', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const query = vi.spyOn(pg.Client.prototype, 'query')
  const all = await claims(app, 12)
  const ids = all.map(({ id }) => id)
  const from = query.mock.calls.length
  await expect.poll(() => renewed(app), { timeout: 10_000 }).toEqual(ids)
  const sent = query.mock.calls.slice(from).map(([what]) => Object(what) as { name?: string; values?: unknown[][] })
  query.mockRestore()
  expect(sent.filter(({ name }) => name === 'heartbeat')).toEqual([])
  const joined = sent.filter(({ name }) => name === 'heartbeats')
  expect(joined.length).toBeGreaterThan(0)
  for (const { values } of joined) expect(values?.[1]).toEqual(ids)
  await stopAll(all)
})

test('a run whose claim is lost ends, and the others keep theirs', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const [lost, ended, ...others] = await claims(app, 4)
  await rows(app, 'update runs set epoch = epoch + 1 where id = $1', [lost?.id])
  await putRun(app, ended?.id ?? 0, 'completed')
  const reasons = () => [lost, ended].map(claim => claim?.control.reason)
  await expect.poll(reasons, { timeout: 10_000 }).toEqual([{ kind: 'lost' }, { kind: 'lost' }])
  await expect.poll(() => renewed(app), { timeout: 10_000 }).toEqual(others.map(({ id }) => id))
  expect(others.map(({ control }) => control.reason)).toEqual([null, null])
  await stopAll(others)
})

test('a run whose row is locked is not lost, and delays no other', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const [locked, ...others] = await claims(app, 3)
  await app.db.transaction(async tx => {
    await tx.query({ text: 'select 1 from runs where id = $1 for update', values: [locked?.id] })
    await expect.poll(() => renewed(app), { timeout: 10_000 }).toEqual(others.map(({ id }) => id))
  })
  await expect.poll(() => renewed(app), { timeout: 10_000 }).toHaveLength(3)
  expect(locked?.control.reason).toBeNull()
  await stopAll([...others, ...(locked ? [locked] : [])])
})

test('a run whose row cannot be written fails no heartbeat of another', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const [broken, ...others] = await claims(app, 3)
  await rows(app, `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`)
  await rows(app, `create trigger refuse before update on runs for each row when (old.id = ${broken?.id}) execute function refuse()`)
  await rows(app, `update runs set lease_until = now() + interval '1 minute' where id <> ${broken?.id}`)
  await expect.poll(() => renewed(app), { timeout: 10_000 }).toEqual(others.map(({ id }) => id))
  await rows(app, 'drop trigger refuse on runs')
  await stopAll([...others, ...(broken ? [broken] : [])])
})
