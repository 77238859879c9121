import { expect, test } from 'vitest'
import type { AgentRun } from '../../../src/contract/runs/runs.ts'
import { getRun, playedBy, startRun } from '../agent/child-script.ts'
import { calls } from '../coding-app.ts'
import { startCluster } from './cluster.ts'

const LOCK = 4_242

test('kill -9 between the start of a child and its record: one child, and the agent that continues is notified and finds it', async () => {
  await using cluster = await startCluster(
    playedBy({
      '@parent': step =>
        [calls(startRun('@child')), calls(getRun({ wait_seconds: 600 }))][step] ?? { text: 'Found it.' },
      '@child': () => ({ text: 'Done.' }),
    }),
  )
  const { db } = cluster
  // The record of the outcome waits for a lock that the test holds.
  await db.query({
    text: `create function held() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(${LOCK}); return new; end $$;
      create trigger held before insert on journal for each row when (new.kind = 'tool_finished') execute function held()`,
  })
  const client = await db.pool.connect()
  await client.query(`select pg_advisory_lock(${LOCK})`)
  const worker = await cluster.start('work', undefined, { AGENTRUN_WORKER_CONCURRENCY: '1' })
  const { id } = await cluster.createRun({ prompt: '@parent' })
  const children = async (): Promise<AgentRun[]> =>
    (await cluster.call('GET', `/runs?parent_run_id=${id}`)).body.items
  const waiting = `select pid
    from pg_locks
    where locktype = 'advisory' and objid = ${LOCK} and not granted`
  while ((await cluster.rows(waiting)).length === 0) await new Promise(resolve => setTimeout(resolve, 20))
  expect(await children()).toHaveLength(1)
  worker.child.kill('SIGKILL')
  await worker.ended
  // Statements that the dead worker sent are not executed after its death.
  await cluster.rows(`select pg_terminate_backend(pid) from (${waiting}) w`)
  await client.query(`select pg_advisory_unlock(${LOCK})`)
  client.release()
  await cluster.start('work')
  expect(await cluster.until(id, run => run.terminal)).toMatchObject({
    status: 'completed',
    result: 'Found it.',
  })
  const [child, ...others] = await children()
  expect(others).toEqual([])
  expect(child).toMatchObject({ status: 'completed', result: 'Done.' })
  const { logs } = (await cluster.call('GET', `/run/${id}/logs?limit=100`)).body
  const of = (tool: string) =>
    logs.find((entry: { tool_name: string }) => entry.tool_name === tool).tool_output
  expect(of('start_run')).toMatchObject({
    status: 'interrupted',
    error: expect.stringContaining('it may or may not have completed'),
  })
  expect(of('get_run')).toMatchObject({
    runs: [{ agent_run_id: child?.id, status: 'completed', result: 'Done.' }],
  })
}, 60_000)
