import { expect, test } from 'vitest'
import { Database, joined } from '../../../src/store/database.ts'
import { claimRun } from '../../../src/store/leases/claims.ts'
import { createTestDatabase } from '../../database.ts'
import { addOrganization, fillQueue } from './fill-queue.ts'

const lease = { owner: 'a worker', seconds: 60, turn_seconds: 60 }

/** A database with organizations whose queues have these lengths, and `connections` to it. */
async function startQueues(lengths: number[], connections = 1) {
  const stack = new AsyncDisposableStack()
  const { url } = stack.use(await createTestDatabase())
  const workers = Array.from({ length: connections }, () =>
    stack.use(new Database(url, { max: 1, on_error: () => {} })),
  )
  const db = stack.use(new Database(url, { max: 2, on_error: () => {} }))
  const organizations: number[] = []
  for (const [n, length] of lengths.entries()) {
    const owner = await addOrganization(db, `organization ${n}`)
    await fillQueue(db, owner, length)
    organizations.push(owner.organization_id)
  }
  /** The index in `lengths` of the organization of the claimed run; null when there is nothing to claim. */
  const claim = async () => {
    const run = await claimRun(db, lease)
    return run === undefined ? null : organizations.indexOf(run.organization_id)
  }
  const claims = async (count: number) => {
    const claimed: (number | null)[] = []
    for (let n = 0; n < count; n++) claimed.push(await claim())
    return claimed
  }
  const sql = async <R extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
    (await db.query<R>({ text, values })).rows
  return { db, workers, organizations, claim, claims, sql, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('twenty workers that claim from a thousand runs at once claim each of them once', async () => {
  await using queues = await startQueues([600, 400], 20)
  const claimed = await Promise.all(
    queues.workers.map(async db => {
      const ids: number[] = []
      for (;;) {
        const run = await claimRun(db, lease)
        if (run === undefined) return ids
        ids.push(run.id)
      }
    }),
  )
  expect(new Set(claimed.flat()).size).toBe(1_000)
  expect(claimed.flat()).toHaveLength(1_000)
  expect(await queues.sql('select count(*) as runs from runs where epoch = 1 and owner is not null')).toEqual(
    [{ runs: 1_000 }],
  )
})

test('the first run of an organization is claimed second at the latest, regardless of the number of earlier runs of another one', async () => {
  await using queues = await startQueues([10_000, 1])
  expect(await queues.claims(3)).toEqual([0, 1, 0])
})

test('the next claim goes to the organization with the fewest active runs, and within it to the run that has waited longest', async () => {
  await using queues = await startQueues([6, 4, 1])
  expect(await queues.claims(11)).toEqual([0, 1, 2, 0, 1, 0, 1, 0, 1, 0, 0])
  expect(await queues.claim()).toBeNull()
  const [order] = await queues.sql<{ ordered: boolean }>(
    `select bool_and(id > before) as ordered
      from (select id, lag(id) over (partition by organization_id order by started_at) as before from runs) r
      where before is not null`,
  )
  expect(order?.ordered).toBe(true)
})

test('a run that another worker began comes before all new runs of any organization, the longest lost first', async () => {
  await using queues = await startQueues([100, 1, 100])
  await queues.claims(30)
  const lose = (organization: number, seconds: number) =>
    queues.sql(
      `update runs
        set status = 'queued', phase = null, owner = null, lease_until = null, epoch = epoch + 1,
          runnable_at = now(), recovering_since = now() - make_interval(secs => $2),
          recovery_cause = 'lease_lost'
        where id = (select max(id) from runs where organization_id = $1 and owner is not null)
        returning id`,
      [queues.organizations[organization], seconds],
    )
  const [first] = await lose(2, 9)
  const [second] = await lose(0, 5)
  const [third] = await lose(2, 1)
  const claimed = [
    await claimRun(queues.db, lease),
    await claimRun(queues.db, lease),
    await claimRun(queues.db, lease),
  ]
  expect(claimed.map(run => run?.id)).toEqual([first?.id, second?.id, third?.id])
  expect(claimed.map(run => run?.epoch)).toEqual([3, 3, 3])
})

test('an organization whose row is locked delays no other one, and its runs are claimed when nothing else is left', async () => {
  await using queues = await startQueues([5, 3])
  await queues.sql('update organizations set max_concurrent_runs = 10 where id = $1', [
    queues.organizations[0],
  ])
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: held, resolve: hold } = Promise.withResolvers<void>()
  const holder = queues.db.transaction(async tx => {
    await tx.query({
      text: 'select 1 from organizations where id = $1 for update',
      values: [queues.organizations[0]],
    })
    hold()
    await released
  })
  await held
  expect(await queues.claims(3)).toEqual([1, 1, 1])
  const last = queues.claim()
  release()
  await holder
  expect(await last).toBe(0)
})

test('a claim locks only the row that it takes, so that the next claim does not wait for it', async () => {
  await using queues = await startQueues([50, 50, 50], 1)
  await queues.db.transaction(async tx => {
    const first = await claimRun(joined(tx), lease)
    const [worker = queues.db] = queues.workers
    const { rowCount } = await worker.query({ text: 'select id from runs for update skip locked' })
    expect(rowCount).toBe(149)
    const second = await claimRun(worker, lease)
    expect([first?.organization_id, second?.organization_id]).toEqual([
      queues.organizations[0],
      queues.organizations[0],
    ])
    expect(second?.id).not.toBe(first?.id)
  })
})

test.each([
  ['without a bound', null],
  ['of an organization with a bound', 5_000],
])('a claim %s reads as little of a queue of 10,000 as of one of ten', async (_which, bound) => {
  const rowsRead = async (length: number) => {
    await using queues = await startQueues([length, length])
    await queues.sql('update organizations set max_concurrent_runs = $1', [bound])
    await queues.sql('analyze')
    let read = 0
    // Every statement of a claim, explained while it runs.
    const explained = async (
      tx: Parameters<typeof joined>[0],
      query: { text: string; values?: unknown[] },
    ) => {
      const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({
        text: `explain (analyze, format json) ${query.text}`,
        values: query.values ?? [],
      })
      read += rowsOf(rows[0]?.['QUERY PLAN'][0].Plan)
    }
    await queues.db.transaction(async tx => {
      const seen: { text: string; values?: unknown[] }[] = []
      const spy = {
        query: (query: { text: string; values?: unknown[] }) => {
          seen.push(query)
          return tx.query(query)
        },
      }
      await tx.query({ text: 'savepoint before' })
      expect(await claimRun(joined(spy as typeof tx), lease)).toBeDefined()
      await tx.query({ text: 'rollback to savepoint before' })
      for (const query of seen) await explained(tx, query)
    })
    return read
  }
  expect(await rowsRead(10_000)).toBeLessThanOrEqual((await rowsRead(10)) + 2)
})

type Plan = {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** Rows of `runs` that the nodes of a plan have read. */
function rowsOf(plan: Plan | undefined): number {
  if (plan === undefined) return 0
  const own =
    plan['Relation Name'] === 'runs'
      ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
      : 0
  return own + (plan.Plans ?? []).reduce((sum, inner) => sum + rowsOf(inner), 0)
}
