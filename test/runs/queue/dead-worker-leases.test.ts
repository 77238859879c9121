import pg from 'pg'
import { expect, test } from 'vitest'
import { Database, type Db, only } from '../../../src/store/database.ts'
import { lockExpired, type Sweeper } from '../../../src/store/leases/leases.ts'
import { holdSession, SESSION_NAME } from '../../../src/store/leases/worker-sessions.ts'
import { changeRun } from '../../../src/store/runs/change-run.ts'
import { requestPause } from '../../../src/store/runs/pauses.ts'
import { sweepRuns } from '../../../src/worker/sweep/recover-lost-runs.ts'
import { createTestDatabase } from '../../database.ts'

const QUIET = 3.4
const sweep = { late_seconds: 0, limit: 50, folder_id: 'other', owner: 'sweeper' }

/** A database with three workers that have no session yet, and an organization for runs. */
async function workersAndRuns() {
  const database = await createTestDatabase()
  const db = new Database(database.url, { max: 2, on_error: () => {} })
  const query = async <R extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await db.query<R>({ text, values })).rows
  const id = async (text: string) => only(await query<{ id: number }>(text)).id
  const organization_id = await id(`insert into organizations (name) values ('one') returning id`)
  const user_id = await id(`insert into users (email) values ('one@example.org') returning id`)
  for (const [owner, folder] of [
    ['live', 'a'],
    ['dead', 'b'],
    ['older-version', null],
  ])
    await query(
      `insert into workers (owner, folder_id, host, pid, version, sandbox, concurrency, active)
        values ($1, $2, 'h', 1, '1', 's', 1, 1)`,
      [owner, folder],
    )
  return {
    db,
    organization_id,
    user_id,
    async putRun(tx: Db, owner: string, lease_seconds: number): Promise<number> {
      const { rows } = await tx.query<{ id: number }>({
        text: `insert into runs (
            organization_id, user_id, status, phase, runnable_at, owner, lease_until, source_type, agent_type,
            model, prompt, title, deadline_at
          )
          values (
            $1, $2, 'running', 'agent', null, $3, now() + make_interval(secs => $4), 'API', 'a', 'm', 'p',
            't', now() + interval '1 hour'
          )
          returning id`,
        values: [organization_id, user_id, owner, lease_seconds],
      })
      return only(rows).id
    },
    /** The session of the live worker. */
    async open() {
      const client = new pg.Client({ connectionString: database.url, application_name: SESSION_NAME })
      await client.connect()
      const { text, values } = holdSession('live')
      await client.query(text, values)
      return { client, [Symbol.asyncDispose]: () => client.end() }
    },
    /** Resolves when a session is old enough to show that the server did not restart after the heartbeat. */
    async oldSession() {
      const oldest = `select 1
        from pg_stat_activity
        where application_name = $1
          and datname = current_database()
          and backend_start < now() - interval '2 seconds'`
      await expect.poll(() => query(oldest, [SESSION_NAME]), { timeout: 20_000 }).not.toEqual([])
    },
    async [Symbol.asyncDispose]() {
      await db[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

test('only a closed session of a server that did not restart, or the same data folder, ends a lease early', async () => {
  await using there = await workersAndRuns()
  // In one transaction, so that no time passes between the heartbeat and the sweep.
  const ended = (owner: string, lease_seconds: number, sweeper: Partial<Sweeper> = {}) =>
    there.db.transaction(async tx => {
      const run = await there.putRun(tx, owner, lease_seconds)
      return (await lockExpired(tx, { ...sweep, ...sweeper })).some(lost => lost.id === run)
    })
  expect(await ended('dead', QUIET), 'no session shows that the server did not restart').toBe(false)
  expect(await ended('dead', QUIET, { folder_id: 'b' }), 'the same data folder').toBe(true)
  expect(await ended('dead', QUIET, { folder_id: 'b', owner: 'dead' }), 'its own runs').toBe(false)
  await using _live = await there.open()
  expect(await ended('dead', QUIET), 'the server restarted after the heartbeat').toBe(false)
  await there.oldSession()
  expect(await ended('dead', 4.8), 'a heartbeat just now').toBe(false)
  expect(await ended('live', QUIET), 'a session that is open').toBe(false)
  expect(await ended('older-version', QUIET), 'a worker that holds no session lock').toBe(false)
  expect(await ended('dead', QUIET), 'a closed session').toBe(true)
}, 60_000)

test('a closed session does not end the lease of a run whose lease heartbeats do not extend', async () => {
  await using there = await workersAndRuns()
  const { organization_id, user_id } = there
  await using _live = await there.open()
  await there.oldSession()
  const changes: [string, (tx: Db, run: number) => Promise<unknown>][] = [
    [
      'stopping',
      (tx, id) => changeRun(tx, { organization_id, id }, { from: ['running'], to: 'cancelling', user_id }),
    ],
    ['pausing', (tx, run) => requestPause(tx, organization_id, run, user_id)],
    [
      'past its deadline',
      (tx, run) =>
        tx.query({
          text: `update runs set deadline_at = now() - interval '1 second' where id = $1`,
          values: [run],
        }),
    ],
  ]
  for (const folder_id of ['other', 'b'])
    for (const [what, change] of changes)
      for (const [lease_seconds, expected] of [
        [QUIET, false],
        [-1, true],
      ] as const) {
        const taken = await there.db.transaction(async tx => {
          const run = await there.putRun(tx, 'dead', lease_seconds)
          await change(tx, run)
          await tx.query({
            text: 'update runs set lease_until = now() + make_interval(secs => $2) where id = $1',
            values: [run, lease_seconds],
          })
          return (await lockExpired(tx, { ...sweep, folder_id })).some(lost => lost.id === run)
        })
        expect(taken, `${what}, with ${lease_seconds} s left`).toBe(expected)
      }
}, 60_000)

test('a sweep ends the runs that a person stops or pauses first, however many workers were lost before', async () => {
  await using there = await workersAndRuns()
  const { db, organization_id, user_id } = there
  const deps = {
    db,
    max_losses: 3,
    queue_seconds: 60,
    log: () => {},
    driver: { end: async () => {} },
    folder_id: null,
    owner: null,
    telemetry: { leasesExpired: () => {} },
  } as unknown as Parameters<typeof sweepRuns>[0]
  for (let n = 0; n < 60; n++) await there.putRun(db, 'dead', -600)
  const stopped = await there.putRun(db, 'dead', -1)
  const paused = await there.putRun(db, 'dead', -1)
  const to_stop = { organization_id, id: stopped }
  await db.transaction(tx => changeRun(tx, to_stop, { from: ['running'], to: 'cancelling', user_id }))
  await requestPause(db, organization_id, paused, user_id)
  await db.query({
    text: `update runs set lease_until = now() - interval '1 second' where id = any ($1)`,
    values: [[stopped, paused]],
  })
  await sweepRuns(deps)
  const { rows } = await db.query<{ status: string; runs: number; ids: number[] }>({
    text: `select status, count(*) as runs, array_agg(id) as ids
      from runs
      group by status
      order by status`,
  })
  expect(rows).toEqual([
    { status: 'cancelled', runs: 1, ids: [stopped] },
    { status: 'paused', runs: 1, ids: [paused] },
    { status: 'queued', runs: 48, ids: expect.any(Array) },
    { status: 'running', runs: 12, ids: expect.any(Array) },
  ])
}, 60_000)
