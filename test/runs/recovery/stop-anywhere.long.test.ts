import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FakeResponse } from '../../model/fake-server.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'
import { type State, startEveryState, startSilentCluster, stateNames, states } from '../states/every-state.ts'
import { type Cluster, type ClusterNode, startCluster } from './cluster.ts'

const everything = (cluster: Cluster) =>
  Promise.all(
    ['log_entries order by run_id, seq', 'journal order by run_id, n', 'events order by seq'].map(from =>
      cluster.rows(`select * from ${from}`),
    ),
  )

/** The response does not wait for the worker. A lock that the worker held for longer would make it a 503. */
async function expectAcknowledged(cluster: Cluster, state: string, verb: 'stop' | 'pause', id: number) {
  const { status, body } = await cluster.call('POST', `/run/${verb}`, { agent_run_id: id })
  expect({ state, status }).toEqual({ state, status: 200 })
  expect(body[`${verb}_requested_by`]).toBe(1)
  expect(body.status === 'cancelled' || body.status === 'paused' || body.waiting_on === 'worker').toBe(true)
}

async function requestAll(cluster: Cluster, verb: 'stop' | 'pause', ids: Record<State, number>) {
  for (const state of stateNames) await expectAcknowledged(cluster, state, verb, ids[state])
}
const fenced_ms = 10_000

async function expectCancelled(cluster: Cluster, ids: Record<State, number>) {
  for (const state of stateNames) {
    const run = await cluster.until(ids[state], ({ terminal }) => terminal)
    expect({ state, ...run }).toMatchObject({
      state,
      status: 'cancelled',
      result: '',
      status_reason: null,
      waiting_on: null,
    })
    const took_ms = Date.parse(run.finished_at ?? '') - Date.parse(run.stop_requested_at ?? '')
    expect(took_ms).toBeLessThanOrEqual(fenced_ms)
  }
  const last = await cluster.rows<{ run_id: number; body: string }>(
    `select distinct on (run_id) run_id, body
      from log_entries
      where run_id = $1
      order by run_id, seq desc`,
    [ids.tool],
  )
  expect(JSON.parse(last[0]?.body ?? '{}')).toMatchObject({
    tool_name: 'shell',
    tool_output: { status: 'interrupted' },
  })
}

/** The worker continues with its outdated state, and completes a run of its own after it has recovered. */
async function thaw(cluster: Cluster, worker: ClusterNode) {
  worker.child.kill('SIGCONT')
  rmSync(join(cluster.repository, '.git/hooks/pre-receive'))
  const { id } = await cluster.createRun({ prompt: 'a new one' })
  expect(await cluster.until(id, ({ terminal }) => terminal)).toMatchObject({ status: 'completed' })
  await expect.poll(() => sandboxProcesses(worker.data_dir), { timeout: 20_000 }).toEqual([])
  await cluster.call('DELETE', `/run/${id}`)
}

test('a run reports what it waits for, and a stop is acknowledged immediately and ends it in every state', async () => {
  await using cluster = await startSilentCluster()
  const worker = await cluster.start('work')
  const ids = await startEveryState(cluster)
  for (const state of stateNames) {
    const run = await cluster.getRun(ids[state])
    expect({ state, ...run }).toMatchObject({ state, ...states[state] })
    expect(Date.parse(run.deadline_at ?? '')).toBeGreaterThan(Date.now())
  }
  await requestAll(cluster, 'stop', ids)
  await expectCancelled(cluster, ids)
  await expect.poll(() => sandboxProcesses(worker.data_dir), { timeout: 20_000 }).toEqual([])
}, 120_000)

test('a stop is acknowledged and ends the run of a frozen worker in every state; after the thaw the worker changes nothing', async () => {
  await using cluster = await startSilentCluster()
  const worker = await cluster.start('work')
  const ids = await startEveryState(cluster)
  worker.child.kill('SIGSTOP')
  await requestAll(cluster, 'stop', ids)
  await expectCancelled(cluster, ids)
  const runs = await Promise.all(stateNames.map(state => cluster.getRun(ids[state])))
  const before = (await everything(cluster)).flat().length
  await thaw(cluster, worker)
  expect(await Promise.all(stateNames.map(state => cluster.getRun(ids[state])))).toEqual(runs)
  const after = await everything(cluster)
  // One event reports that the run of the thaw was deleted.
  expect(after.flat().length).toBe(before + 1)
}, 120_000)

test('a stop is acknowledged and ends the run when its worker is frozen in a transaction that locks the row', async () => {
  const requested = Promise.withResolvers<void>()
  const response = Promise.withResolvers<FakeResponse>()
  await using cluster = await startCluster(() => {
    requested.resolve()
    return response.promise
  })
  const worker = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'a long story' })
  await requested.promise
  const holding = `select 1
    from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and xact_start < query_start`
  await cluster.db.transaction(async tx => {
    await tx.query({ text: 'lock table events in share mode' })
    response.resolve({ text: 'The end.' })
    await expect.poll(() => cluster.rows(holding), { timeout: 10_000, interval: 20 }).not.toEqual([])
    worker.child.kill('SIGSTOP')
  })
  const held = cluster.rows('select 1 from runs where id = $1 for update nowait', [id])
  await expect(held).rejects.toMatchObject({ code: '55P03' })
  await expectAcknowledged(cluster, 'the middle of a transaction', 'stop', id)
  expect(await cluster.until(id, ({ terminal }) => terminal)).toMatchObject({
    status: 'cancelled',
    result: '',
  })
  worker.child.kill('SIGCONT')
  await expect.poll(() => sandboxProcesses(worker.data_dir), { timeout: 20_000 }).toEqual([])
  expect(await cluster.getRun(id)).toMatchObject({ status: 'cancelled' })
}, 120_000)

test('a stop is acknowledged and ends the run when its worker is dead and there is no other', async () => {
  await using cluster = await startSilentCluster()
  const worker = await cluster.start('work')
  const ids = await startEveryState(cluster)
  worker.child.kill('SIGKILL')
  await requestAll(cluster, 'stop', ids)
  await expectCancelled(cluster, ids)
  expect(sandboxProcesses(worker.data_dir)).toEqual([])
}, 120_000)

test('a pause takes effect on the run of a frozen worker in every state, and a resume continues with another worker', async () => {
  await using cluster = await startSilentCluster()
  const worker = await cluster.start('work')
  const ids = await startEveryState(cluster)
  worker.child.kill('SIGSTOP')
  await requestAll(cluster, 'pause', ids)
  for (const state of stateNames) {
    const run = await cluster.until(ids[state], ({ status }) => status === 'paused')
    expect({ state, ...run }).toMatchObject({
      state,
      status_reason: 'user_request',
      deadline_at: null,
      waiting_on: null,
      error: null,
    })
  }
  rmSync(join(cluster.repository, '.git/hooks/pre-receive'))
  await cluster.start('work')
  for (const state of ['model', 'tool', 'push'] as const) {
    await cluster.call('POST', '/run/resume', { agent_run_id: ids[state], prompt: 'Go on.' })
    const run = await cluster.until(ids[state], ({ terminal }) => terminal)
    expect({ state, ...run }).toMatchObject({ state, status: 'completed', turn: 1, result: 'Gone on.' })
  }
  worker.child.kill('SIGCONT')
  await expect.poll(() => sandboxProcesses(worker.data_dir), { timeout: 20_000 }).toEqual([])
}, 150_000)
