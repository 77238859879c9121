import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { QueueConsumer } from '../../src/queue/consumer.ts'
import { once } from '../../src/service/access/idempotency.ts'
import { memberContext } from '../../src/service/access/member-context.ts'
import type { Services } from '../../src/service/context.ts'
import { acceptRun, planRun } from '../../src/service/runs/create-run.ts'
import type { MessageSource } from '../../src/service/runs/message-source.ts'
import { changedOne, type Db } from '../../src/store/database.ts'
import { isHeldBy } from '../../src/store/fence.ts'
import { claimRows, type QueueTable } from '../../src/store/queue/queue-table.ts'
import { unusedServices } from '../no-service.ts'
import { awaitEnd } from '../runs/await-run.ts'
import { type App, rows, startApp } from '../start-app.ts'

// A schedule as ARCHITECTURE.md describes its addition, and the queue that it needs: the table is created as
// a migration would create it, and everything else is as a folder of `src` would have it.
const migration = `create table schedules (
  organization_id bigint not null,
  id bigint generated always as identity,
  user_id bigint not null,
  prompt text not null,
  every_seconds int not null,
  run_id bigint,
  next_attempt_at timestamptz,
  tries int not null default 0,
  lease_until timestamptz,
  epoch int not null default 0,
  primary key (organization_id, id)
)`

type DueSchedule = {
  organization_id: number
  id: number
  user_id: number
  prompt: string
  due_at: Date
  epoch: number
}

const schedules: QueueTable = {
  name: 'schedules',
  key: 'organization_id, id',
  ready: 'true',
  returning: 'organization_id, id, user_id, prompt, next_attempt_at as due_at, epoch',
}

const LEASE_SECONDS = 60

/** `run_id` null: nobody can start a run for it any longer, and it is never due again. */
const settleSchedule = (
  db: Db,
  { organization_id, id, epoch }: DueSchedule,
  run_id: number | null,
): Promise<boolean> =>
  changedOne(db, {
    name: 'settle_schedule',
    text: `update schedules
      set tries = 0, lease_until = null, run_id = coalesce($4, run_id),
        next_attempt_at = case when $4::bigint is not null then next_attempt_at + make_interval(secs => every_seconds) end
      where organization_id = $1 and id = $2 and ${isHeldBy('$3')}`,
    values: [organization_id, id, epoch, run_id],
  })

const by_schedule: MessageSource = { source_type: 'SCHEDULE', comment: null }

async function startScheduledRun(services: Services, due: DueSchedule): Promise<void> {
  const cause = `schedule:${due.id}:${due.due_at.toISOString()}`
  const ctx = await memberContext(services, due, cause)
  if (ctx === null) {
    await settleSchedule(services.db, due, null)
    return
  }
  const input = { prompt: due.prompt, repoless: true }
  const { plan, problems } = await planRun(ctx, input)
  if (plan === null) throw problems[0]
  await once({ ...ctx, idempotency_key: cause }, 'start_scheduled_run', input, inner =>
    inner.db.transaction(async tx => {
      const run = await acceptRun(tx, inner, input, plan, by_schedule)
      await settleSchedule(tx, due, run.id)
      return run
    }),
  )
}

const claimSchedules = (db: Db, limit: number) => claimRows<DueSchedule>(db, schedules, limit, LEASE_SECONDS)

/** As each process of the service would start it. */
const startSchedules = (services: Services) =>
  new QueueConsumer(
    {
      name: 'schedules',
      concurrency: 5,
      claim: limit => claimSchedules(services.db, limit),
      handle: due => startScheduledRun(services, due),
    },
    () => {},
  )

describe('a schedule that is added', () => {
  let app: App
  let services: Services

  beforeAll(async () => {
    app = await startApp()
    services = { ...unusedServices(app.db), base_url: app.base_url }
    await rows(app, migration)
  })
  afterAll(() => app[Symbol.asyncDispose]())

  /** Adds a schedule that was due `times` times, and is due again in an hour. */
  async function addSchedule(times: number, user_id = app.user_id): Promise<number> {
    const [row] = await rows<{ id: number }>(
      app,
      `insert into schedules (organization_id, user_id, prompt, every_seconds, next_attempt_at)
      values ($1, $2, 'scheduled', 3600, now() - make_interval(secs => 3600 * $3 - 1800))
      returning id`,
      [app.org_id, user_id, times],
    )
    return row?.id ?? 0
  }
  const stateOf = async (id: number) =>
    (
      await rows<{ run_id: number | null; is_due: boolean | null }>(
        app,
        'select run_id, next_attempt_at <= now() as is_due from schedules where id = $1',
        [id],
      )
    )[0]
  const runsOf = async () =>
    rows<{ id: number }>(app, `select id from runs where source_type = 'SCHEDULE' order by id`)

  test('starts one run for each time at which it was due, with a consumer in each process, and the run is shown as every other one', async () => {
    const id = await addSchedule(3)
    await using first = startSchedules(services)
    await using second = startSchedules(services)
    first.wake()
    second.wake()
    await expect.poll(() => stateOf(id), { timeout: 20_000 }).toMatchObject({ is_due: false })
    const runs = await runsOf()
    expect(runs.length).toBe(3)
    const run = await awaitEnd(app, runs[0]?.id ?? 0)
    expect(run).toMatchObject({ source_type: 'SCHEDULE', status: 'completed', user_id: app.user_id })
  })

  test('starts no second run for a time where its first process continues after another one has claimed it', async () => {
    const id = await addSchedule(1)
    const before = await runsOf()
    const [lost] = await claimSchedules(app.db, 10)
    await rows(app, 'update schedules set lease_until = now() where id = $1', [id])
    const [claimed] = await claimSchedules(app.db, 10)
    if (lost === undefined || claimed === undefined) throw new Error('it is not due')
    expect(claimed.epoch).toBe(lost.epoch + 1)
    await Promise.all([startScheduledRun(services, lost), startScheduledRun(services, claimed)])
    expect((await runsOf()).length).toBe(before.length + 1)
  })

  test('starts no run, and is not due again, when its user is no longer a member', async () => {
    const id = await addSchedule(1, 1_000_000)
    const before = await runsOf()
    await using consumer = startSchedules(services)
    consumer.wake()
    await expect.poll(() => stateOf(id)).toEqual({ run_id: null, is_due: null })
    expect(await runsOf()).toEqual(before)
  })
})
