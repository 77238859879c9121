import { expect, test } from 'vitest'
import { removeExpiredRuns } from '../../../src/worker/sweep/retention.ts'
import { addArtifact } from '../../api/access/second-organization.ts'
import { putPullRequest } from '../../api/pull-requests/put-pull-request.ts'
import { putRun } from '../../api/runs/put-run.ts'
import { openFrames } from '../../api/trace/read-frames.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { createRun } from '../await-run.ts'
import { addOrganization, fillQueue } from './fill-queue.ts'

const idle = { AGENTRUN_WORKER_CONCURRENCY: '0' }
const deps = (app: App, retention_days: number | null = 30) => ({ db: app.db, log: () => {}, retention_days })

async function newRun(
  app: App,
  status: Parameters<typeof putRun>[2],
  days_ago: number | null = null,
): Promise<number> {
  const { id } = await createRun(app, { prompt: 'x' })
  await putRun(app, id, status)
  if (days_ago !== null)
    await rows(app, 'update runs set finished_at = now() - make_interval(days => $2) where id = $1', [
      id,
      days_ago,
    ])
  return id
}
const remaining = async (app: App) =>
  (await rows<{ id: number }>(app, 'select id from runs order by id')).map(row => row.id)

test('runs that ended longer ago than AGENTRUN_RETENTION_DAYS are removed with all their data', async () => {
  await using app = await startApp(idle)
  const old = await newRun(app, 'completed', 31)
  const kept = [
    await newRun(app, 'failed', 29),
    await newRun(app, 'paused'),
    await newRun(app, 'waiting'),
    await newRun(app, 'running'),
  ]
  await rows(
    app,
    `update runs
      set created_at = now() - interval '1 year', updated_at = now() - interval '1 year'`,
  )
  const pr = await putPullRequest(app, old)
  await addArtifact(app.db, { organization_id: app.org_id, run_id: old }, 'output')
  await rows(app, `insert into changes values ($1, $2, 'a', 'b', 1, 1, 1, '[]', 'p', false)`, [
    old,
    app.org_id,
  ])
  await rows(
    app,
    `update runs
      set workspace = '/w/1', workspace_host = 'h', parent_run_id = case id when $2 then $1::bigint end`,
    [old, kept[0]],
  )
  const used = await rows(app, 'select * from usage_days order by run_id')

  await using stream = await openFrames(app, `/v1/organizations/${app.org_id}/events`)
  await using _retaining = await startApp({
    ...idle,
    DATABASE_URL: app.database_url,
    AGENTRUN_RETENTION_DAYS: '30',
  })
  const frames = await stream.until(seen => seen.some(frame => frame.data.includes('agent_run.deleted')))
  expect(frames.map(frame => JSON.parse(frame.data))).toMatchObject([
    { type: 'agent_run.deleted', agent_run_id: old, run: null },
  ])

  expect(await remaining(app)).toEqual(kept)
  const tables = await rows<{ name: string }>(
    app,
    `select table_name as name
      from information_schema.columns
      where column_name = 'run_id' and table_schema = 'public'
      order by 1`,
  )
  const holding: string[] = []
  for (const { name } of tables)
    if ((await rows(app, `select 1 from ${name} where run_id = $1`, [old])).length > 0) holding.push(name)
  // The sweep of its machine removes the folder; the usage of the month still counts.
  expect(holding).toEqual(['leftover_workspaces', 'usage_days'])
  expect(await rows(app, 'select * from usage_days order by run_id')).toEqual(used)
  expect(await rows(app, 'select run_id, state from pull_requests where id = $1', [pr])).toEqual([
    { run_id: null, state: 'open' },
  ])
  expect(await rows(app, 'select parent_run_id from runs where id = $1', [kept[0]])).toEqual([
    { parent_run_id: null },
  ])
  expect(await rows(app, 'select user_id, action, target_type, detail from audit_entries')).toEqual([
    {
      user_id: null,
      action: 'run.expired',
      target_type: 'run',
      detail: JSON.stringify({ retention_days: 30, agent_run_ids: [old] }),
    },
  ])
})

test('no reference to a run prevents its removal', async () => {
  await using app = await startApp(idle)
  const holding = await rows(
    app,
    `select conrelid::regclass::text as name
      from pg_constraint
      where confrelid = 'runs'::regclass and contype = 'f' and confdeltype not in ('c', 'n')`,
  )
  expect(holding).toEqual([])
})

test('without AGENTRUN_RETENTION_DAYS nothing is removed', async () => {
  await using app = await startApp(idle)
  const id = await newRun(app, 'completed', 10_000)
  await removeExpiredRuns(deps(app, null))
  expect(await remaining(app)).toEqual([id])
})

test('several workers at once remove each run once, in batches, and number the events of each organization without a gap', async () => {
  await using app = await startApp(idle)
  const large = await addOrganization(app.db, 'Large')
  const small = await addOrganization(app.db, 'Small')
  await fillQueue(app.db, large, 250)
  await fillQueue(app.db, small, 30)
  await rows(
    app,
    `update runs
      set status = 'completed', runnable_at = null, deadline_at = null,
        finished_at = now() - interval '40 days' - id * interval '1 second'`,
  )
  await Promise.all(Array.from({ length: 4 }, () => removeExpiredRuns(deps(app))))
  await removeExpiredRuns(deps(app))
  expect(await remaining(app)).toEqual([])
  const audited = await rows<{ detail: string }>(app, 'select detail from audit_entries')
  const ids = audited.flatMap(({ detail }) => JSON.parse(detail).agent_run_ids as number[])
  expect(ids).toHaveLength(280)
  expect(new Set(ids).size).toBe(280)
  expect(audited.length).toBeGreaterThanOrEqual(4)
  for (const { organization_id } of [large, small])
    expect(
      await rows(
        app,
        `select count(*) = max(e.seq) and min(e.seq) = 1 and max(e.seq) = max(o.event_seq) as dense
          from events e
          join organizations o on o.id = e.organization_id
          where o.id = $1`,
        [organization_id],
      ),
    ).toEqual([{ dense: true }])
})

test('a run that is resumed during its deletion is kept completely', async () => {
  await using app = await startApp(idle)
  const [resumed, other] = [await newRun(app, 'completed', 40), await newRun(app, 'completed', 40)]
  // So long that its entries would be deleted before its row.
  await rows(app, 'update runs set journal_count = 50000 where id = $1', [resumed])
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const resume = app.db.transaction(async tx => {
    await tx.query({ text: 'select 1 from runs where id = $1 for update', values: [resumed] })
    held.resolve()
    await released.promise
    await tx.query({
      text: `update runs
        set status = 'queued', runnable_at = now(), deadline_at = now() + interval '1 hour',
          finished_at = null
        where id = $1`,
      values: [resumed],
    })
  })
  await held.promise
  await removeExpiredRuns(deps(app))
  released.resolve()
  await resume
  expect(await remaining(app)).toEqual([resumed])
  await removeExpiredRuns(deps(app))
  expect(await remaining(app)).toEqual([resumed])
  expect(await rows(app, 'select seq from log_entries where run_id = $1', [resumed])).toEqual([{ seq: 1 }])
  expect(other).not.toBe(resumed)
})

test.each(['by its age', 'by a request'])(
  'a trace of 50,000 entries is removed %s in statements of a bounded size, all or nothing',
  async how => {
    await using app = await startApp(idle)
    const id = await newRun(app, 'completed', 40)
    await rows(
      app,
      `insert into log_entries (run_id, seq, organization_id, turn, message_type, body)
        select $1, n, $2, 1, 'ACTION', '{}'
        from generate_series(2, 50000) n`,
      [id, app.org_id],
    )
    await rows(app, 'update runs set total_logs = 50000 where id = $1', [id])
    await rows(app, 'create table statements (n int)')
    await rows(
      app,
      `create function note() returns trigger language plpgsql as $$ begin insert into statements select count(*) from gone; return null; end $$`,
    )
    await rows(
      app,
      'create trigger note after delete on log_entries referencing old table as gone for each statement execute function note()',
    )
    // The last statement fails once: then nothing is deleted.
    await rows(
      app,
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`,
    )
    await rows(app, 'create trigger refuse before delete on runs for each row execute function refuse()')
    const remove = async () => {
      if (how === 'by its age') await removeExpiredRuns(deps(app)).catch(() => {})
      else await app.call('DELETE', `/v1/organizations/${app.org_id}/agent/run/${id}`)
    }
    await remove()
    expect(await rows(app, 'select count(*) as entries from log_entries where run_id = $1', [id])).toEqual([
      { entries: 50_000 },
    ])
    await rows(app, 'drop trigger refuse on runs')
    await remove()
    expect(await remaining(app)).toEqual([])
    expect(await rows(app, 'select n from statements where n > 0 order by n')).toEqual([
      { n: 10_000 },
      { n: 20_000 },
      { n: 20_000 },
    ])
  },
)

test('the record of a deleted run is removed when it is old itself', async () => {
  await using app = await startApp(idle)
  await newRun(app, 'completed', 40)
  await removeExpiredRuns(deps(app))
  const deletions = () => rows(app, 'select 1 from events where run_id is null')
  expect(await deletions()).toHaveLength(1)
  await rows(app, `update events set created_at = now() - interval '31 days'`)
  await removeExpiredRuns(deps(app))
  expect(await deletions()).toEqual([])
})
