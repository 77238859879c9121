import { afterAll, expect, test } from 'vitest'
import { rollback } from '../../../src/store/database.ts'
import { type Change, changeRun } from '../../../src/store/runs/change-run.ts'
import { entry } from '../../../src/trace/entry.ts'
import { putRun } from '../../api/runs/put-run.ts'
import { rows, startApp } from '../../start-app.ts'
import { createRun } from '../await-run.ts'

const app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
afterAll(() => app[Symbol.asyncDispose]())

const answer = entry({ message_type: 'FINAL_ANSWER', observation: 'done' })
const completed: Change = { from: ['running'], to: 'completed', result: 'done', entries: [answer] }

async function runningRun() {
  const { id } = await createRun(app, { prompt: 'x', webhooks: [{ url: 'https://a.example/' }] })
  await putRun(app, id, 'running')
  return { organization_id: app.org_id, id }
}

/** What a change may write: the row, the number of entries, events and deliveries. */
async function writtenOf({ id }: { id: number }) {
  const [row] = await rows<Record<string, unknown>>(
    app,
    `select status, status_reason, phase, waiting_on, owner, lease_until, runnable_at, deadline_at, finished_at is not null as ended,
        result, error_code, reserved_usd::float8, approved_sha, stop_requested_by, total_logs,
        (select count(*)::int from log_entries l where l.run_id = r.id) as entries,
        (select json_agg(body::json order by seq) from events e where e.run_id = r.id and type = 'agent_run.status') as events,
        (select count(*)::int from webhook_deliveries d where d.run_id = r.id) as deliveries
      from runs r where id = $1`,
    [id],
  )
  return row
}

test('a change writes the row, its entries, its event and the webhooks of the event', async () => {
  const run = await runningRun()
  await rows(app, `update runs set reserved_usd = 1, approved_sha = 'call:1', error_code = 'old' where id = $1`, [run.id])
  const before = await writtenOf(run)
  expect(await app.db.transaction(tx => changeRun(tx, run, completed))).toBe(true)
  expect(await writtenOf(run)).toEqual({
    ...before,
    status: 'completed',
    phase: null,
    owner: null,
    lease_until: null,
    deadline_at: null,
    ended: true,
    result: 'done',
    error_code: null,
    reserved_usd: 0,
    approved_sha: null,
    total_logs: Number(before?.total_logs) + 1,
    entries: Number(before?.entries) + 1,
    events: [{ status: 'completed', status_reason: null }],
    deliveries: Number(before?.deliveries) + 1,
  })
})

test.each<[string, Change]>([
  ['another status', { from: ['starting', 'waiting'], to: 'failed', because: 'timeout', entries: [answer] }],
  ['another epoch', { ...completed, epoch: 1_000 } as Change],
  ['no requested pause', { from: ['running'], to: 'paused', because: 'user_request', only: 'pausing', entries: [answer] }],
  ['too many losses', { from: ['running'], to: 'queued', because: 'sandbox_lost', losses_below: 0, entries: [answer] }],
])('a change that meets %s writes nothing', async (_, change) => {
  const run = await runningRun()
  const before = await writtenOf(run)
  expect(await app.db.transaction(tx => changeRun(tx, run, change))).toBe(false)
  expect(await writtenOf(run)).toEqual(before)
})

test('a move that the table of transitions does not allow is a bug, not a conflict', async () => {
  const run = await runningRun()
  const to_queue: Change = { from: ['waiting'], to: 'queued', because: 'continued', deadline_seconds: 60 }
  await expect(changeRun(app.db, run, to_queue)).rejects.toThrow('does not move from waiting to queued')
  await expect(changeRun(app.db, run, { from: ['running'], to: 'failed', because: 'budget' })).rejects.toThrow(
    'cannot be failed with budget',
  )
})

test('a transaction that is rolled back resolves with the value, and nothing of it remains', async () => {
  const run = await runningRun()
  const before = await writtenOf(run)
  const result = await app.db.transaction(async tx => ((await changeRun(tx, run, completed)) ? rollback('rolled back') : 'conflict'))
  expect(result).toBe('rolled back')
  expect(await writtenOf(run)).toEqual(before)
})
