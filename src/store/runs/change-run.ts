import type { RunStatus } from '../../contract/runs/runs.ts'
import { isTerminal, type Move, requireAllowed } from '../../core/runs/run-transitions.ts'
import { add_to_day, today } from '../access/usage-days.ts'
import { changedOne, type Db } from '../database.ts'
import { isHeldBy } from '../fence.ts'
import {
  liveNotification,
  type Notification,
  notifyAll,
  runNotification,
  workNotification,
} from '../notify.ts'
import { append, type NewEntry } from './append.ts'
import { insertMessage, type NewMessage } from './messages.ts'
import { type EventType, insertEvent } from './organization-events.ts'
import { columnsOf, setOf } from './run-states.ts'

export type RunKey = { organization_id: number; id: number }

/** Conditions that a fence may name, in addition to status and claim. */
const conditions = {
  pausing: 'pause_requested_at is not null',
  not_pausing: 'pause_requested_at is null',
  overdue: 'deadline_at < now()',
  resume_requested: 'resume_requested_at is not null',
}

/** What must be true of the run: otherwise nothing is written. */
type Fence = {
  /** The statuses that it may have. */
  from: readonly RunStatus[]
  /** Of the claim that must hold it. */
  epoch?: number
  only?: keyof typeof conditions
  /** More than the number of workers and sandboxes that it has lost in this turn. */
  losses_below?: number
}

/** `body` absent: the `seq` of the last entry. */
type ChangeEvent = { type: EventType; body?: Record<string, unknown> }

/** What reports a change, or something else of a run. */
export type Report = {
  entries?: NewEntry[] | undefined
  /** Of a person, for the agent: the first of the entries. */
  message?: NewMessage
  /** Absent from a move: its status and reason. */
  event?: ChangeEvent | undefined
  /** A live event for the owner and the viewers, as JSON. */
  live?: string | undefined
  /** False: another report of the same transaction notifies. */
  notify?: boolean
  /** Workers may claim the run from now on: a new run, or a move after which they may. */
  wakes_workers?: boolean
}

/** A move with what reports it. */
export type Change = Move & Fence & Report

/**
 * Changes the status of a run in the caller's transaction: updates what src/store/runs/run-states.ts states
 * for the new status, and reports it. False: the run is not as the fence requires, and nothing was written
 * (decisions.md#one-function-changes-a-run).
 */
export async function changeRun(tx: Db, run: RunKey, change: Change): Promise<boolean> {
  if (!(await move(tx, run, change))) return false
  const { event = eventOf(change), ...report } = change
  return reportRun(tx, run, { ...report, event, wakes_workers: isClaimable(change) })
}

/**
 * Reports something of a run in the caller's transaction: appends entries to its turn, notifies, and inserts
 * the event with its webhooks. The status stays. False: nothing could be appended.
 */
export async function reportRun(tx: Db, run: RunKey, report: Report): Promise<boolean> {
  const { organization_id, id } = run
  const { entries = [], message, event } = report
  let last_seq = 0
  if (entries.length > 0) {
    // Without the epoch of a claim: one that a move has ended could not append, and the move was fenced.
    const appended = await append(tx, organization_id, id, null, { entries })
    if (!appended) return false
    last_seq = appended.total_logs
  }
  if (message)
    await insertMessage(tx, { ...message, organization_id, run_id: id, seq: last_seq - entries.length + 1 })
  if (report.notify !== false) await notifyAll(tx, notificationsOf(run, report))
  // Last: from here on, every other event of the organization waits for this transaction.
  if (event) await insertEvent(tx, organization_id, id, event.type, event.body ?? { message_seq: last_seq })
  return true
}

function eventOf(change: Change): ChangeEvent {
  const is_begun = change.to === 'queued' || ('because' in change && change.because === 'session_reports')
  if (is_begun) return { type: 'agent_run.status', body: { status: change.to } }
  const has_reason = change.to === 'paused' || change.to === 'failed' || change.to === 'completed'
  const status_reason = has_reason ? (change.because ?? null) : null
  return { type: 'agent_run.status', body: { status: change.to, status_reason } }
}

const isClaimable = (change: Change) =>
  change.to === 'queued' || (change.to === 'waiting' && change.because === 'answered')

function notificationsOf({ organization_id, id }: RunKey, report: Report): Notification[] {
  const { wakes_workers = false, live } = report
  return [
    ...(wakes_workers ? [workNotification] : []),
    runNotification(organization_id, id),
    ...(live === undefined ? [] : [liveNotification(organization_id, id, live)]),
  ]
}

function move(tx: Db, { organization_id, id }: RunKey, change: Move & Fence): Promise<boolean> {
  const { to, from, epoch, only, losses_below } = change
  requireAllowed(from, change)
  const values: unknown[] = [organization_id, id, from]
  const bind = (value: unknown) => `$${values.push(value)}`
  const set = setOf(columnsOf(change, bind))
  const fence = [
    'organization_id = $1 and id = $2 and status = any($3)',
    ...(epoch === undefined ? [] : [isHeldBy(bind(epoch))]),
    ...(only === undefined ? [] : [conditions[only]]),
    ...(losses_below === undefined ? [] : [`losses < ${bind(losses_below)}`]),
  ].join(' and ')
  const text = isTerminal(to) ? ending(set, fence) : moving(set, fence)
  return changedOne(tx, { name: nameOf(change), text, values })
}

const moving = (set: string, fence: string) => `update runs
    set ${set}
    where ${fence}`

/** Counts the end as well. */
const ending = (set: string, fence: string) => `with ended as (
    ${moving(set, fence)}
    returning id, organization_id, user_id, repository_id, model, status, status_reason, source_type
  ),
  counted as (
    insert into usage_days (
      organization_id, day, run_id, model, user_id, repository_id, completed, completed_with_reason, failed,
      cancelled
    )
    select organization_id, ${today}, id, model, user_id, repository_id, (status = 'completed')::int,
      (status = 'completed' and status_reason is not null)::int, (status = 'failed')::int,
      (status = 'cancelled')::int
    from ended
    where source_type <> 'LOCAL' ${add_to_day}
  )
  select 1
  from ended`

/** Returns the name of the prepared statement: one per text. */
function nameOf(change: Move & Fence): string {
  const has_own_columns = change.to === 'queued' || (change.to === 'waiting' && change.because === 'answered')
  return [
    'change_run',
    change.to,
    has_own_columns && change.because,
    'phase' in change && 'phase',
    'user_id' in change && change.user_id !== undefined && 'person',
    change.epoch !== undefined && 'held',
    change.only,
    change.losses_below !== undefined && 'losses',
  ]
    .filter(part => part)
    .join('_')
}
