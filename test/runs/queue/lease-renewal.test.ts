import pg from 'pg'
import { expect, test, vi } from 'vitest'
import type { Log } from '../../../src/core/log.ts'
import { LEASE_SECONDS } from '../../../src/core/runs/lease.ts'
import { Hub } from '../../../src/live/hub.ts'
import { Control } from '../../../src/worker/claim/control.ts'
import { startHeartbeat } from '../../../src/worker/claim/heartbeat.ts'
import { openLeaseDatabases } from '../../../src/worker/claim/lease-databases.ts'
import { LeaseKeeper } from '../../../src/worker/claim/lease-keeper.ts'
import { shareLease } from '../../../src/worker/claim/lease-messages.ts'
import { LeaseRenewal } from '../../../src/worker/claim/lease-renewal.ts'
import { LiveChannel } from '../../../src/worker/claim/live-channel.ts'
import { RunWriter } from '../../../src/worker/claim/run-writer.ts'
import { putRun } from '../../api/runs/put-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { createRun } from '../await-run.ts'

/** Runs that one process has claimed, with their heartbeats. Disposing ends the heartbeats. */
async function claims(app: App, count: number, script?: URL) {
  const logged: string[] = []
  const log: Log = (_level, message) => logged.push(message)
  const leases = new LeaseKeeper({ connection_string: app.database_url, owner: 'of the test' }, log, script)
  const hub = new Hub()
  const all: { id: number; control: Control; stop(): Promise<void> }[] = []
  for (let n = 0; n < count; n++) {
    const writer = await claimedRun(app)
    const control = new Control()
    const { stop } = startHeartbeat({ hub, leases }, writer, new LiveChannel(writer), control)
    all.push({ id: writer.run_id, control, stop })
  }
  return {
    all,
    hub,
    logged,
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map(({ stop }) => stop()))
      await leases[Symbol.asyncDispose]()
    },
  }
}

async function claimedRun(app: App): Promise<RunWriter> {
  const { id } = await createRun(app, { prompt: 'x' })
  await putRun(app, id, 'running')
  await rows(
    app,
    `update runs
    set epoch = 7, lease_until = now() + interval '1 minute'
    where id = $1`,
    [id],
  )
  return new RunWriter(app.db, { organization_id: app.org_id, id, epoch: 7 })
}

const first_lease = `now() + interval '30 seconds'`
/** Those whose lease a heartbeat has set: it ends earlier than the first one. */
const renewed = async (app: App) => {
  const found = await rows<{ id: number }>(
    app,
    `select id from runs where lease_until < ${first_lease} order by id`,
  )
  return found.map(({ id }) => id)
}

test('the leases of all runs of a process are renewed by one statement', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const results: unknown[] = []
  const renewal = new LeaseRenewal({ joined: app.db, alone: app.db }, (_id, result) => results.push(result))
  const ids: number[] = []
  for (let n = 0; n < 12; n++) {
    const { organization_id, run_id, epoch } = await claimedRun(app)
    ids.push(run_id)
    renewal.add(n, { organization_id, run_id, epoch }, shareLease(new Int32Array(1)))
  }
  const query = vi.spyOn(pg.Client.prototype, 'query')
  renewal.renewAll()
  await expect.poll(() => results, { timeout: 10_000 }).toHaveLength(12)
  const sent = query.mock.calls.map(([what]) => Object(what) as { name?: string; values?: unknown[][] })
  query.mockRestore()
  expect(
    sent.filter(({ name }) => name?.startsWith('heartbeat')).map(({ name, values }) => [name, values?.[1]]),
  ).toEqual([['heartbeats', ids]])
  expect(await renewed(app)).toEqual(ids)
})

test('a worker whose connections all break at once holds its session again before its next heartbeat is due', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const session = () =>
    rows<{ pid: number }>(
      app,
      `select pid
        from pg_locks
        where locktype = 'advisory'
          and mode = 'ShareLock'
          and classid <> 0
          and database = (select oid from pg_database where datname = current_database())
          and objid = (hashtext('of the test')::bigint & 4294967295)::oid`,
    )
  await using stack = new AsyncDisposableStack()
  const databases = openLeaseDatabases({ connection_string: app.database_url, owner: 'of the test' }, () =>
    renewal.renewAll(),
  )
  for (const database of Object.values(databases)) stack.use(database)
  const renewal = new LeaseRenewal(databases, () => {})
  const { organization_id, run_id, epoch } = await claimedRun(app)
  renewal.add(1, { organization_id, run_id, epoch }, shareLease(new Int32Array(1)))
  // Nothing else sends heartbeats here: an idle connection that breaks does, and one whose statement breaks
  // is replaced by the other one.
  renewal.renewAll()
  await expect.poll(() => renewed(app), { timeout: 10_000 }).toEqual([run_id])
  const [before] = await session()
  await rows(app, 'select pg_terminate_backend($1)', [before?.pid])
  await expect
    .poll(async () => (await session()).filter(({ pid }) => pid !== before?.pid), { timeout: 10_000 })
    .toHaveLength(1)
  renewal.renewNow(1)
  await expect.poll(session, { timeout: 10_000 }).toHaveLength(2)
})

test('a run whose claim is lost ends, and the others keep theirs', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  await using of_process = await claims(app, 4)
  const [lost, ended, ...others] = of_process.all
  await rows(app, 'update runs set epoch = epoch + 1 where id = $1', [lost?.id])
  await putRun(app, ended?.id ?? 0, 'completed')
  const outcomes = () => [lost, ended].map(claim => claim?.control.outcome)
  await expect.poll(outcomes, { timeout: 10_000 }).toEqual([{ kind: 'lost' }, { kind: 'lost' }])
  await expect.poll(() => renewed(app), { timeout: 10_000 }).toEqual(others.map(({ id }) => id))
  expect(others.map(({ control }) => control.signal.aborted)).toEqual([false, false])
})

test('a run whose row is locked is not lost, and delays no other', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  await using of_process = await claims(app, 3)
  const [locked, ...others] = of_process.all
  await app.db.transaction(async tx => {
    await tx.query({ text: 'select 1 from runs where id = $1 for update', values: [locked?.id] })
    await expect.poll(() => renewed(app), { timeout: 10_000 }).toEqual(others.map(({ id }) => id))
  })
  await expect.poll(() => renewed(app), { timeout: 10_000 }).toHaveLength(3)
  expect(locked?.control.signal.aborted).toBe(false)
})

test('a run whose row cannot be written fails no heartbeat of another', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  await using of_process = await claims(app, 3)
  const [broken, ...others] = of_process.all
  await rows(
    app,
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`,
  )
  await rows(
    app,
    `create trigger refuse before update on runs for each row when (old.id = ${broken?.id}) execute function refuse()`,
  )
  await rows(
    app,
    `update runs
    set lease_until = now() + interval '1 minute'
    where id <> ${broken?.id}`,
  )
  await expect.poll(() => renewed(app), { timeout: 10_000 }).toEqual(others.map(({ id }) => id))
  await rows(app, 'drop trigger refuse on runs')
})

/** Occupies the event loop, as a long parse does, but leaves the processor to other tests. */
function occupy(ms: number) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test('a process whose event loop is occupied for longer than a lease keeps its leases, and logs it, also when its runs end at once', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  await using of_process = await claims(app, 2)
  const ids = of_process.all.map(({ id }) => id)
  await expect.poll(() => renewed(app), { timeout: 10_000 }).toEqual(ids)
  occupy(1.5 * LEASE_SECONDS * 1_000)
  const kept = await rows<{ id: number }>(app, 'select id from runs where lease_until > now() order by id')
  expect(kept.map(({ id }) => id)).toEqual(ids)
  // The tick that followed found that the leases were renewed meanwhile.
  expect(of_process.all.map(({ control }) => control.signal.aborted)).toEqual([false, false])
  await Promise.all(of_process.all.map(({ stop }) => stop()))
  await expect
    .poll(() => of_process.logged, { timeout: 10_000 })
    .toEqual([expect.stringContaining('the event loop was occupied')])
})

test('a thread that dies is replaced, and no lease is lost', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  await using of_process = await claims(app, 2, new URL('./dying-lease-thread.ts', import.meta.url))
  const ids = of_process.all.map(({ id }) => id)
  await expect.poll(() => renewed(app), { timeout: 10_000 }).toEqual(ids)
  of_process.hub.live(app.org_id, ids[0] ?? 0, '{"event":"control"}')
  await rows(app, `update runs set lease_until = now() + interval '1 minute' where id = any($1)`, [ids])
  await expect.poll(() => renewed(app), { timeout: 10_000 }).toEqual(ids)
  expect(of_process.all.map(({ control }) => control.signal.aborted)).toEqual([false, false])
})

test('the connection of heartbeats holds the session lock of the owner, and takes it again when it is closed', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  await using of_process = await claims(app, 1)
  const holders = async () => {
    const held = await rows<{ pid: number }>(
      app,
      `select pid
        from pg_locks
        where locktype = 'advisory'
          and granted
          and objid = (hashtext('of the test')::bigint & 4294967295)::oid`,
    )
    return held.map(({ pid }) => pid)
  }
  await expect.poll(holders, { timeout: 10_000 }).toHaveLength(1)
  const [first] = await holders()
  await rows(app, 'select pg_terminate_backend($1)', [first])
  await expect
    .poll(async () => (await holders()).filter(pid => pid !== first), { timeout: 10_000 })
    .toHaveLength(1)
  expect(of_process.all.map(({ control }) => control.signal.aborted)).toEqual([false])
})
