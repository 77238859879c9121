import { afterAll, expect, test } from 'vitest'
import type { RunStatus } from '../../../src/contract/runs/runs.ts'
import type { KnownValue } from '../../../src/core/secrets/known-value.ts'
import { createBackgroundRedactor } from '../../../src/redaction/background-redactor.ts'
import { joined, rollback } from '../../../src/store/database.ts'
import { type Change, changeRun } from '../../../src/store/runs/change-run.ts'
import { entry, errorEntry } from '../../../src/trace/entry.ts'
import { FencedError } from '../../../src/worker/claim/fenced-error.ts'
import { RunWriter } from '../../../src/worker/claim/run-writer.ts'
import { putRun } from '../../api/runs/put-run.ts'
import { rows, startApp } from '../../start-app.ts'
import { createRun } from '../await-run.ts'

const app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
afterAll(() => app[Symbol.asyncDispose]())

const answer = entry({ message_type: 'FINAL_ANSWER', observation: 'done' })
const completed: Change = { from: ['running'], to: 'completed', result: 'done', entries: [answer] }

async function runIn(status: RunStatus) {
  const { id } = await createRun(app, { prompt: 'x', webhooks: [{ url: 'https://a.example/' }] })
  await putRun(app, id, status)
  return { organization_id: app.org_id, id }
}
const runningRun = () => runIn('running')

async function writerOf(secret: KnownValue): Promise<RunWriter> {
  const run = await runningRun()
  const [row] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [run.id])
  const writer = new RunWriter(app.db, { ...run, epoch: row?.epoch ?? 0 })
  writer.protect(createBackgroundRedactor([secret]), { report: async () => {} })
  return writer
}

/** What a change may write: the row, the number of entries, events and deliveries. */
async function writtenOf({ id }: { id: number }) {
  const [row] = await rows<Record<string, unknown>>(
    app,
    `select status, status_reason, phase, waiting_on, owner, lease_until, runnable_at, deadline_at,
        finished_at is not null as ended, result, error_code, reserved_usd::float8, approved_sha,
        stop_requested_by, total_logs,
        (select count(*)::int from log_entries l where l.run_id = r.id) as entries,
        (
          select json_agg(body::json order by seq)
          from events e
          where e.run_id = r.id and type = 'agent_run.status'
        ) as events, (select count(*)::int from webhook_deliveries d where d.run_id = r.id) as deliveries
      from runs r
      where id = $1`,
    [id],
  )
  return row
}

test('a change writes the row, its entries, its event and the webhooks of the event', async () => {
  const run = await runningRun()
  await rows(
    app,
    `update runs
      set reserved_usd = 1, approved_sha = 'call:1', error_code = 'old'
      where id = $1`,
    [run.id],
  )
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
  [
    'no requested pause',
    { from: ['running'], to: 'paused', because: 'user_request', only: 'pausing', entries: [answer] },
  ],
  [
    'too many losses',
    { from: ['running'], to: 'queued', because: 'sandbox_lost', losses_below: 0, entries: [answer] },
  ],
])('a change that meets %s writes nothing', async (_, change) => {
  const run = await runningRun()
  const before = await writtenOf(run)
  expect(await app.db.transaction(tx => changeRun(tx, run, change))).toBe(false)
  expect(await writtenOf(run)).toEqual(before)
})

test('a change of a worker that finds no pause, or another status, writes nothing to the run either', async () => {
  const writer = await writerOf({ name: 'MODE', value: 'unknown_value' })
  const version = () => rows(app, 'select xmin::text, r.* from runs r where id = $1', [writer.run_id])
  const before = await version()
  const pause = { from: ['running'], to: 'paused', because: 'user_request', only: 'pausing' } as const
  expect(await writer.change(pause)).toBe(false)
  expect(await writer.change({ from: ['cancelling'], to: 'cancelled' })).toBe(false)
  expect(await version()).toEqual(before)
  const other = new RunWriter(app.db, { ...writer.run, epoch: writer.epoch + 1 })
  await expect(other.change(pause)).rejects.toThrow(FencedError)
})

const error = { code: 'lost', message: 'x' }
const begun = { status: 'queued' }
const plain = (status: RunStatus) => ({ status, status_reason: null })

test.each<[RunStatus, Change, Record<string, unknown>]>([
  ['completed', { from: ['completed'], to: 'queued', because: 'new_turn', deadline_seconds: 60 }, begun],
  ['paused', { from: ['paused'], to: 'queued', because: 'continued', deadline_seconds: 60 }, begun],
  ['running', { from: ['running'], to: 'queued', because: 'worker_lost' }, begun],
  ['running', { from: ['running'], to: 'queued', because: 'sandbox_lost' }, begun],
  ['running', { from: ['running'], to: 'queued', because: 'handed_over' }, begun],
  [
    'completed',
    { from: ['completed', 'failed'], to: 'running', because: 'session_reports' },
    { status: 'running' },
  ],
  ['starting', { from: ['starting'], to: 'starting', phase: 'setup' }, plain('starting')],
  ['starting', { from: ['starting'], to: 'running', phase: 'agent' }, plain('running')],
  ['running', { from: ['running'], to: 'waiting', because: 'ci', deadline_seconds: 60 }, plain('waiting')],
  ['running', { from: ['running'], to: 'completed', result: '' }, plain('completed')],
  [
    'running',
    { from: ['running'], to: 'completed', because: 'checks_failed', result: '' },
    { status: 'completed', status_reason: 'checks_failed' },
  ],
  [
    'running',
    { from: ['running'], to: 'failed', because: 'lost', error },
    { status: 'failed', status_reason: 'lost' },
  ],
  [
    'running',
    { from: ['running'], to: 'paused', because: 'budget', error },
    { status: 'paused', status_reason: 'budget' },
  ],
  ['cancelling', { from: ['cancelling'], to: 'cancelled' }, plain('cancelled')],
])('the event of a move from %s, %j, is %j', async (from, change, event) => {
  const run = await runIn(from)
  expect(await app.db.transaction(tx => changeRun(tx, run, change))).toBe(true)
  expect((await writtenOf(run))?.events).toEqual([event])
})

/** Words of changes that are long enough for a secret. */
test.each([
  'handed_over',
  'not_pausing',
  'losses_below',
  'sandbox_lost',
  'tool_approval',
  'user_request',
  'deadline_seconds',
  'agent_error',
])(
  'a secret with the value %s, a word of changes, prevents no change and is redacted from texts',
  async value => {
    const from = ['running'] as const
    const message = `It was ${value}.`
    const changes: [Parameters<RunWriter['change']>[0], Record<string, unknown>][] = [
      [{ from, to: 'queued', because: 'handed_over', only: 'not_pausing' }, { status: 'queued' }],
      [{ from, to: 'queued', because: 'sandbox_lost', losses_below: 1 }, { status: 'queued' }],
      [
        { from, to: 'waiting', because: 'tool_approval', deadline_seconds: 60 },
        { waiting_on: 'tool_approval' },
      ],
      [{ from, to: 'paused', because: 'user_request' }, { status_reason: 'user_request' }],
      [
        { from, to: 'failed', because: 'agent_error', error: { code: 'internal', message } },
        { status_reason: 'agent_error', error_message: 'It was [redacted:MODE].' },
      ],
      [
        { from, to: 'completed', result: message },
        { status: 'completed', result: 'It was [redacted:MODE].' },
      ],
    ]
    for (const [change, expected] of changes) {
      const writer = await writerOf({ name: 'MODE', value })
      expect(await writer.change(change)).toBe(true)
      expect(await rows(app, 'select * from runs where id = $1', [writer.run_id])).toMatchObject([expected])
    }
    const too_many_losses = { from, to: 'queued', because: 'sandbox_lost', losses_below: 0 } as const
    expect(await (await writerOf({ name: 'MODE', value })).change(too_many_losses)).toBe(false)
  },
)

test('the message of an error is redacted before it is shortened, in the run and in its entry', async () => {
  const value = 'kQ7wXz2mN9pLr4TskQ7wXz2m'
  const writer = await writerOf({ name: 'TOKEN', value })
  const message = `${'x'.repeat(1_990)}${value} ${'y'.repeat(9_000)}`
  const shown = `${'x'.repeat(1_990)}[redacted:…`
  await writer.append({
    entries: [errorEntry({ code: 'push_rejected', message, retryable: false, phase: 'push' })],
  })
  const error = { code: 'internal', message }
  expect(await writer.change({ from: ['running'], to: 'failed', because: 'agent_error', error })).toBe(true)
  expect(
    await rows(
      app,
      `select error_message, (select body::jsonb -> 'observation' ->> 'message' from log_entries
        where run_id = runs.id and message_type = 'ERROR') as in_entry from runs where id = $1`,
      [writer.run_id],
    ),
  ).toEqual([{ error_message: shown, in_entry: shown }])
})

test('a move that the table of transitions does not allow is a bug, not a conflict', async () => {
  const run = await runningRun()
  const to_queue: Change = { from: ['waiting'], to: 'queued', because: 'continued', deadline_seconds: 60 }
  await expect(changeRun(app.db, run, to_queue)).rejects.toThrow('does not move from waiting to queued')
  await expect(
    changeRun(app.db, run, { from: ['running'], to: 'failed', because: 'budget' }),
  ).rejects.toThrow('cannot be failed with budget')
})

test('a transaction that is rolled back resolves with the value, and nothing of it remains', async () => {
  const run = await runningRun()
  const before = await writtenOf(run)
  const result = await app.db.transaction(async tx =>
    (await changeRun(tx, run, completed)) ? rollback('rolled back') : 'conflict',
  )
  expect(result).toBe('rolled back')
  expect(await writtenOf(run)).toEqual(before)
})

test('a transaction that is part of another one is not rolled back alone: nothing of either is committed', async () => {
  const run = await runningRun()
  const before = await writtenOf(run)
  const both = app.db.transaction(async tx => {
    await changeRun(tx, run, completed)
    await joined(tx).transaction(async () => rollback('the inner value'))
    return 'the outer value'
  })
  await expect(both).rejects.toThrow('part of another one cannot be rolled back')
  expect(await writtenOf(run)).toEqual(before)
})
