import pg from 'pg'
import { expect, test } from 'vitest'
import { Database, only } from '../../src/store/database.ts'
import { requeueExpired, type Sweeper } from '../../src/store/leases.ts'
import { holdSession, SESSION_NAME } from '../../src/store/worker-sessions.ts'
import { createTestDatabase } from '../database.ts'
import { startCluster } from './cluster.ts'
import { answers, calls, shell } from './coding-app.ts'

test('a worker that is killed loses its runs before its leases end; one that only loses its session keeps them', async () => {
  await using cluster = await startCluster(
    answers(calls(shell('echo one; sleep 1000')), calls(shell('sleep 3; echo two')), { text: 'Done.' }),
  )
  for (const role of ['work', 'work'] as const) await cluster.start(role)
  const { id } = await cluster.createRun({ prompt: 'survive', repo_id: null, repoless: true })
  await cluster.until(id, run => run.waiting_on === 'tool' && cluster.model.requests.length === 1)
  const [owned] = await cluster.rows<{ owner: string }>('select owner from runs where id = $1', [id])
  process.kill(Number(owned?.owner.split('-')[0]), 'SIGKILL')
  // Nobody renews it any more.
  const [lease] = await cluster.rows<{ lease_until: Date | null }>(
    'select lease_until from runs where id = $1 and recovering_since is null',
    [id],
  )
  await cluster.until(id, run => run.waiting_on === 'tool' && cluster.model.requests.length === 2)
  const [recovered] = await cluster.rows<{ body: string }>(`select body from journal where run_id = $1 and kind = 'recovered'`, [id])
  const { since } = JSON.parse(recovered?.body ?? '{}') as { since: string }
  expect(new Date(since).getTime()).toBeLessThan(lease?.lease_until?.getTime() ?? 0)

  const sessions = `select l.pid from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.mode = 'ShareLock' and a.application_name = $1 and a.datname = current_database()`
  const before = await cluster.rows<{ pid: number }>(sessions, [SESSION_NAME])
  expect(before).toHaveLength(1)
  await cluster.rows('select pg_terminate_backend($1)', [before[0]?.pid])
  const run = await cluster.until(id, ({ terminal }) => terminal)
  expect(run).toMatchObject({ status: 'completed', result: 'Done.' })
  const after = await cluster.rows<{ pid: number }>(sessions, [SESSION_NAME])
  expect(after).toHaveLength(1)
  expect(after).not.toEqual(before)
  expect((await cluster.rows(`select 1 from journal where run_id = $1 and kind = 'recovered'`, [id])).length).toBe(1)
}, 120_000)

test('only a closed session of a server that did not restart, or the same data folder, ends a lease early', async () => {
  await using database = await createTestDatabase()
  await using db = new Database(database.url, { max: 2, on_error: () => {} })
  const query = async <R extends pg.QueryResultRow>(text: string, values: unknown[] = []) => (await db.query<R>({ text, values })).rows
  const id = async (text: string) => only(await query<{ id: number }>(text)).id
  const organization = await id(`insert into organizations (name) values ('one') returning id`)
  const user = await id(`insert into users (email) values ('one@example.org') returning id`)
  // In one transaction, so that time stands still between the heartbeat and the sweep.
  const requeued = (owner: string, lease_seconds: number, sweeper: Partial<Sweeper> = {}) =>
    db.transaction(async tx => {
      const { rows } = await tx.query<{ id: number }>({
        text: `insert into runs (organization_id, user_id, status, phase, runnable_at, owner, lease_until, source_type, agent_type, model, prompt, title, deadline_at)
          values ($1, $2, 'running', 'agent', null, $3, now() + make_interval(secs => $4), 'API', 'a', 'm', 'p', 't', now() + interval '1 hour') returning id`,
        values: [organization, user, owner, lease_seconds],
      })
      const sweep = { max_losses: 3, late_seconds: 0, limit: 50, folder_id: 'other', owner: 'sweeper', ...sweeper }
      return (await requeueExpired(tx, sweep)).some(lost => lost.id === only(rows).id)
    })
  for (const [owner, folder] of [
    ['live', 'a'],
    ['dead', 'b'],
    ['older-version', null],
  ])
    await query(
      `insert into workers (owner, folder_id, host, pid, version, sandbox, concurrency, active) values ($1, $2, 'h', 1, '1', 's', 1, 1)`,
      [owner, folder],
    )
  const open = async () => {
    const client = new pg.Client({ connectionString: database.url, application_name: SESSION_NAME })
    await client.connect()
    return { client, [Symbol.asyncDispose]: () => client.end() }
  }
  const QUIET = 3.4
  expect(await requeued('dead', QUIET), 'no session shows that the server did not restart').toBe(false)
  expect(await requeued('dead', QUIET, { folder_id: 'b' }), 'the same data folder').toBe(true)
  expect(await requeued('dead', QUIET, { folder_id: 'b', owner: 'dead' }), 'its own runs').toBe(false)
  await using live = await open()
  const { text, values } = holdSession('live')
  await live.client.query(text, values)
  expect(await requeued('dead', QUIET), 'the server restarted after the heartbeat').toBe(false)
  const oldest = `select 1 from pg_stat_activity where application_name = $1 and datname = current_database() and backend_start < now() - interval '2 seconds'`
  await expect.poll(() => query(oldest, [SESSION_NAME]), { timeout: 20_000 }).not.toEqual([])
  expect(await requeued('dead', 4.5), 'a heartbeat just now').toBe(false)
  expect(await requeued('live', QUIET), 'a session that is open').toBe(false)
  expect(await requeued('older-version', QUIET), 'a worker that holds no session lock').toBe(false)
  expect(await requeued('dead', QUIET), 'a closed session').toBe(true)
}, 60_000)
