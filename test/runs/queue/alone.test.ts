import { expect, test } from 'vitest'
import { claimRun } from '../../../src/store/leases/claims.ts'
import { rows, startApp } from '../../start-app.ts'
import { createRun } from '../await-run.ts'
import { addOrganization, fillQueue } from './fill-queue.ts'

type App = Awaited<ReturnType<typeof startApp>>

/**
 * A service without a worker, with runs in its queue, in the order of their ids. The first one has stalled
 * its process and waited for long.
 */
async function startQueue(workers: string[], queued: number) {
  const app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const ids: number[] = []
  for (let n = 0; n < queued; n++) ids.push((await createRun(app, { prompt: 'x' })).id)
  await rows(app, 'delete from workers')
  for (const owner of workers)
    await rows(
      app,
      `insert into workers (owner, host, folder_id, pid, version, sandbox, concurrency, active)
        values ($1, 'a host', $1, 1, '0', 'bubblewrap', 2, 0)`,
      [owner],
    )
  return { app, ids }
}
const stall = (app: App, id: number | undefined, waited = '1 minute') =>
  rows(app, `update runs set stalls = 1, runnable_at = now() - $2::interval where id = $1`, [id, waited])
const claim = async (app: App, owner: string, own: number[], only_children = false) =>
  (await claimRun(app.db, { owner, seconds: 60, turn_seconds: 60, runs: own, only_children }))?.id

test('one process that is always busy claims no other run until it is empty, when a run has waited for a process of its own', async () => {
  const { app, ids } = await startQueue(['a', 'b'], 5)
  await using _ = app
  const [first, alone, second, third, fourth] = ids
  expect(await claim(app, 'a', [])).toBe(first)
  await stall(app, alone, '1 second')
  expect(await claim(app, 'a', [first ?? 0])).toBe(second)
  await stall(app, alone)
  expect(await claim(app, 'a', [first ?? 0, second ?? 0])).toBeUndefined()
  // The other process claims as before: one run does not stop a cluster.
  expect(await claim(app, 'b', [0])).toBe(third)
  // The empty process claims this one, although an older run waits.
  await rows(app, `update runs set runnable_at = now() - interval '1 hour' where id = $1`, [fourth])
  expect(await claim(app, 'a', [])).toBe(alone)
  expect(await claim(app, 'b', [0])).toBe(fourth)
})

test('a process that reports no more, starts no runs or has no room never holds back the queue', async () => {
  const { app, ids } = await startQueue(['a', 'b', 'c', 'd'], 3)
  await using _ = app
  await stall(app, ids[0])
  await rows(app, `update workers set seen_at = now() - interval '1 minute' where owner = 'a'`)
  await rows(app, `update workers set blocked_reason = 'no disk' where owner = 'b'`)
  await rows(app, `update workers set concurrency = 0 where owner = 'c'`)
  expect(await claim(app, 'a', [0])).toBe(ids[1])
  expect(await claim(app, 'd', [0])).toBeUndefined()
})

test('a run that may not start, because its organization has its maximum of runs, holds back no others', async () => {
  const { app, ids } = await startQueue(['a'], 2)
  await using _ = app
  const [running, alone] = ids
  await fillQueue(app.db, await addOrganization(app.db, 'Others'), 2)
  expect(await claim(app, 'a', [])).toBe(running)
  await stall(app, alone)
  await rows(app, 'update organizations set max_concurrent_runs = 1 where id = $1', [app.org_id])
  expect(await claim(app, 'a', [running ?? 0])).toBeGreaterThan(alone ?? 0)
  await rows(app, 'update organizations set max_concurrent_runs = 2 where id = $1', [app.org_id])
  expect(await claim(app, 'a', [running ?? 0])).toBeUndefined()
})

test('beside a run that works alone, and while a process empties, only runs that others wait for are claimed', async () => {
  const { app, ids } = await startQueue(['a'], 4)
  await using _ = app
  const [parent, , child, stalled_child] = ids
  expect(await claim(app, 'a', [])).toBe(parent)
  await rows(app, 'update runs set parent_run_id = $1 where id = any ($2)', [parent, [child, stalled_child]])
  await stall(app, stalled_child)
  expect(await claim(app, 'a', [parent ?? 0, 0])).toBe(child)
  expect(await claim(app, 'a', [parent ?? 0, child ?? 0])).toBeUndefined()
  // Its parent waits for it, so they may be in one process.
  expect(await claim(app, 'a', [parent ?? 0], true)).toBe(stalled_child)
  expect(await claim(app, 'a', [parent ?? 0, stalled_child ?? 0], true)).toBeUndefined()
})
