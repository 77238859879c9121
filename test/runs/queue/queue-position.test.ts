import { expect, test } from 'vitest'
import { claimRun } from '../../../src/store/leases/claims.ts'
import { rows, startApp } from '../../start-app.ts'
import { createRun } from '../await-run.ts'
import { addOrganization, fillQueue } from './fill-queue.ts'

test('queue_position is the position in the order in which the runs of an organization are claimed', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const path = `/v1/organizations/${app.org_id}/agent/run`
  await fillQueue(app.db, await addOrganization(app.db, 'Others'), 20)
  const ids: number[] = []
  for (let n = 0; n < 4; n++) ids.push((await createRun(app, { prompt: 'x' })).id)
  /** The positions in the list, which must equal those of each run, in the order of `ids`. */
  const positions = async (): Promise<(number | null)[]> => {
    const { body: page } = await app.call('GET', `${path}s`)
    const listed = new Map<number, number | null>(
      page.items.map((run: { id: number; queue_position: number }) => [run.id, run.queue_position]),
    )
    for (const id of ids)
      expect((await app.call('GET', `${path}/${id}`)).body.queue_position).toBe(listed.get(id))
    return ids.map(id => listed.get(id) ?? null)
  }
  expect(await positions()).toEqual([1, 2, 3, 4])
  await rows(
    app,
    `update runs
    set recovering_since = now(), recovery_cause = 'lease_lost'
    where id = $1`,
    [ids[2]],
  )
  expect(await positions()).toEqual([2, 3, 1, 4])

  const claimed: number[] = []
  for (;;) {
    const run = await claimRun(app.db, { owner: 'a worker', seconds: 60, turn_seconds: 60 })
    if (run === undefined) break
    if (run.organization_id === app.org_id) claimed.push(run.id)
  }
  expect(claimed).toEqual([ids[2], ids[0], ids[1], ids[3]])
  expect(await positions()).toEqual([null, null, null, null])
})

test('queue_position stays 1,000 from there on', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  await fillQueue(app.db, { organization_id: app.org_id, user_id: app.user_id }, 1_005)
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs?limit=10`)
  const seen = body.items.map((run: { queue_position: number }) => run.queue_position)
  expect(seen).toEqual([1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 999, 998, 997, 996])
})
