import { expect, test } from 'vitest'
import { Database } from '../../../src/store/database.ts'
import { claimRun } from '../../../src/store/leases/claims.ts'
import type { RunRow } from '../../../src/store/runs/runs.ts'
import { addTenant } from '../../api/access/second-organization.ts'
import { putRun } from '../../api/runs/put-run.ts'
import { rows, startApp } from '../../start-app.ts'
import { awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { startCodingApp } from '../coding-app.ts'

const bound = (
  app: { org_id: number; call: (m: string, p: string, b: unknown) => Promise<unknown> },
  max_concurrent_runs: number | null,
) => app.call('PATCH', `/v1/organizations/${app.org_id}`, { max_concurrent_runs })

test('twelve workers that claim at once never start more runs of an organization than its bound, and take all others', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  await bound(app, 3)
  await Promise.all(Array.from({ length: 20 }, () => createRun(app, { prompt: 'x' })))
  const others = [await addTenant(app, 'A'), await addTenant(app, 'B'), await addTenant(app, 'C')].map(
    tenant => tenant.run_id,
  )
  await using stack = new AsyncDisposableStack()
  const workers = Array.from({ length: 12 }, () =>
    stack.use(new Database(app.database_url, { max: 1, on_error: () => {} })),
  )
  const claim = () =>
    Promise.all(workers.map((db, n) => claimRun(db, { owner: `worker ${n}`, seconds: 60, turn_seconds: 60 })))
  const claimed = (found: (RunRow | undefined)[]) => found.filter(run => run !== undefined)

  const first = claimed(await claim())
  expect(first.filter(run => run.organization_id === app.org_id).length).toBeLessThanOrEqual(3)
  expect(new Set(first.map(run => run.id)).size).toBe(first.length)
  for (let round = 0; round < 12; round++) {
    await claim()
    const [at_work] = await rows<{ n: number; others: number[] }>(
      app,
      `select count(*) filter (where organization_id = $1) as n,
          array_agg(id::int order by id) filter (where organization_id <> $1) as others
        from runs
        where lease_until is not null`,
      [app.org_id],
    )
    expect(at_work).toEqual({ n: 3, others })
    if (round < 5) await endOne(app)
  }
})

/** Releases the run of the first organization that was claimed first. */
async function endOne(app: Parameters<typeof putRun>[0] & { org_id: number }) {
  const [run] = await rows<{ id: number }>(
    app,
    `select id
      from runs
      where organization_id = $1 and lease_until is not null
      order by id
      limit 1`,
    [app.org_id],
  )
  await putRun(app, run?.id ?? 0, 'completed')
}

test('a run beyond the limit waits in the queue and starts when a slot is free', async () => {
  let go = () => {}
  const latch = new Promise<void>(resolve => {
    go = resolve
  })
  await using app = await startCodingApp(async () => {
    await latch
    return { text: 'done' }
  })
  await bound(app, 1)
  const first = await createRun(app, { prompt: 'first' })
  await awaitRun(app, first.id, run => run.status === 'running')
  const second = await createRun(app, { prompt: 'second' })
  const third = await createRun(app, { prompt: 'third' })
  expect((await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${second.id}`)).body.status).toBe(
    'queued',
  )
  go()
  for (const { id } of [first, second, third])
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  const [order] = await rows<{ ids: number[]; apart: boolean }>(
    app,
    `select array_agg(id::int order by started_at) as ids,
        bool_and(coalesce(started_at >= before, true)) as apart
      from (select id, started_at, lag(finished_at) over (order by started_at) as before from runs) r`,
  )
  expect(order).toEqual({ ids: [first.id, second.id, third.id], apart: true })
})

test('queued runs start immediately when the limit is removed', async () => {
  await using app = await startCodingApp(() => ({ stall: 'before_body' }))
  await bound(app, 1)
  const first = await createRun(app, { prompt: 'first' })
  await awaitRun(app, first.id, run => run.status === 'running')
  const second = await createRun(app, { prompt: 'second' })
  await bound(app, null)
  await awaitRun(app, second.id, run => run.status === 'running')
})
