import type { RunStatus, StatusReason } from '../../../src/contract/runs/runs.ts'
import { afterLoss } from '../../../src/core/runs/after-lost-worker.ts'
import { END_SECONDS } from '../../../src/core/runs/lease.ts'
import { isTerminal } from '../../../src/core/runs/run-transitions.ts'

/**
 * The part of the row of a run that decides who may do what and until when: what the statements of the store
 * do to it, as pure functions with the time as an argument (specification.md#journal, #run-status). `null`
 * from one of them: refused, and nothing was written. test/runs/states/run-model-replay.test.ts plays the
 * store against it.
 */
export type Row = {
  status: RunStatus
  status_reason: StatusReason | null
  turn: number
  epoch: number
  owner: string | null
  lease_until: number | null
  deadline_at: number | null
  claimable: boolean
  /** It waits for checks rather than for a person. */
  of_checks: boolean
  pausing: boolean
  /** Another worker began the turn. */
  recovering: boolean
  losses: number
  /**
   * It was in hand when the event loop of its worker stalled, which has not ended; and how often its worker
   * was lost like that.
   */
  stalled: boolean
  stalls: number
  /** There are messages that this turn has not read. */
  has_unread_messages: boolean
  /** Resumed since the request to stop: it gets a new turn when it is cancelled. */
  resume_requested: boolean
}

/** Seconds. `fence` and `pause`: what a worker has after a stop and after a pause. */
export type Times = {
  lease: number
  queue: number
  turn: number
  answer: number
  checks: number
  fence: number
  pause: number
}

const at_rest = {
  owner: null,
  stalled: false,
  lease_until: null,
  claimable: false,
  recovering: false,
  of_checks: false,
} as const
const isActive = ({ status }: Row) => status === 'starting' || status === 'running'

export const created = (now: number, times: Times): Row => ({
  ...at_rest,
  status: 'queued',
  status_reason: null,
  turn: 1,
  epoch: 0,
  deadline_at: now + times.queue,
  claimable: true,
  pausing: false,
  losses: 0,
  stalls: 0,
  has_unread_messages: true,
  resume_requested: false,
})

export function claimed(row: Row, owner: string, now: number, times: Times): Row | null {
  if (!row.claimable) return null
  const deadline_at = row.recovering ? row.deadline_at : now + times.turn
  const lease_until = leaseOf(deadline_at, now, times.lease)
  const status = row.status === 'waiting' ? 'running' : 'starting'
  return {
    ...row,
    status,
    owner,
    epoch: row.epoch + 1,
    lease_until,
    deadline_at,
    claimable: false,
    of_checks: false,
  }
}

/** A lease ends at most END_SECONDS after the deadline. */
const leaseOf = (deadline_at: number | null, now: number, seconds: number) =>
  Math.min(now + seconds, (deadline_at ?? Number.POSITIVE_INFINITY) + END_SECONDS)

/** Every write of a worker names the epoch that it claimed. */
const owns = (row: Row, epoch: number) => row.epoch === epoch && row.lease_until !== null

export function heartbeatSent(row: Row, epoch: number, now: number, times: Times): Row | null {
  if (!owns(row, epoch)) return null
  if (row.status === 'cancelling' || row.pausing) return row
  return { ...row, lease_until: leaseOf(row.deadline_at, now, times.lease) }
}

/** The event loop of the worker stalls while it works on the run, or works again. */
export function stalled(row: Row, epoch: number, is_stalled: boolean): Row | null {
  return owns(row, epoch) ? { ...row, stalled: is_stalled } : null
}

export function turnBegun(row: Row, epoch: number): Row | null {
  return owns(row, epoch) && row.status === 'starting'
    ? { ...row, status: 'running', recovering: false }
    : null
}

/** The agent gets the messages of people. */
export function messagesRead(row: Row, epoch: number): Row | null {
  return owns(row, epoch) ? { ...row, has_unread_messages: false } : null
}

/**
 * How a worker ends a turn. A stop wins over every other end, and so does a pause unless the turn is
 * completed or failed.
 */
export type End = 'completed' | 'failed' | 'waiting' | 'checks' | 'budget' | 'released' | 'handed_over'

export function ended(row: Row, epoch: number, end: End, now: number, times: Times): Row | null {
  if (!owns(row, epoch)) return null
  if (row.status === 'cancelling') return settled(row, now, times)
  if (!isActive(row)) return null
  // A message that the agent has not read continues the run, perhaps with more.
  const goes_on = end === 'budget' && row.has_unread_messages
  const of_checks = end === 'checks'
  if (goes_on || end === 'released' || end === 'handed_over' || end === 'waiting' || of_checks) {
    if (row.pausing) return paused(row)
    if (end === 'waiting' || of_checks) {
      const deadline_at = now + (of_checks ? times.checks : times.answer)
      return row.status === 'running'
        ? {
            ...row,
            ...at_rest,
            status: 'waiting',
            of_checks,
            claimable: row.has_unread_messages,
            deadline_at,
          }
        : null
    }
    return { ...row, ...at_rest, status: 'queued', epoch: row.epoch + 1, claimable: true, recovering: true }
  }
  if (end === 'budget') return { ...paused(row), status_reason: 'budget' }
  if (end === 'failed')
    return { ...row, ...at_rest, status: 'failed', status_reason: 'agent_error', deadline_at: null }
  if (row.status !== 'running') return null
  const done: Row = { ...row, ...at_rest, status: 'completed', deadline_at: null }
  return row.has_unread_messages ? again(done, now, times, true) : done
}

const stopped = (row: Row): Row => ({
  ...row,
  ...at_rest,
  status: 'cancelled',
  status_reason: null,
  deadline_at: null,
})
/** The worker has released a run that had to stop. */
const settled = (row: Row, now: number, times: Times): Row =>
  row.resume_requested
    ? { ...again(stopped(row), now, times, true), has_unread_messages: true, resume_requested: false }
    : stopped(row)
const paused = (row: Row): Row => ({
  ...row,
  ...at_rest,
  status: 'paused',
  status_reason: 'user_request',
  deadline_at: null,
})

/** A person put the run back into the queue: with a new turn, or in the middle of the paused one. */
const again = (row: Row, now: number, times: Times, new_turn: boolean): Row => ({
  ...row,
  status: 'queued',
  status_reason: null,
  claimable: true,
  deadline_at: now + times.queue,
  pausing: false,
  losses: 0,
  stalls: row.status === 'completed' ? 0 : Math.min(row.stalls, 1),
  stalled: false,
  recovering: false,
  turn: row.turn + (new_turn ? 1 : 0),
})

export function stopRequested(row: Row, now: number, { fence }: Times): Row {
  if (isTerminal(row.status)) return row
  if (row.status === 'cancelling') return { ...row, resume_requested: false }
  // The sweep first closes what a lost worker left open.
  if (!isActive(row) && !row.recovering) return stopped(row)
  const owner = row.owner ?? 'nobody'
  return {
    ...row,
    status: 'cancelling',
    owner,
    claimable: false,
    recovering: false,
    lease_until: now + fence,
    deadline_at: now + fence,
  }
}

export function pauseRequested(row: Row, now: number, { pause }: Times): Row | null {
  if (row.status === 'cancelling' || isTerminal(row.status)) return null
  if (row.status === 'paused' || (isActive(row) && row.pausing)) return row
  if (!isActive(row)) return { ...paused(row), pausing: true }
  return { ...row, pausing: true, lease_until: leaseOf(row.deadline_at, now, pause) }
}

export function resumed(row: Row, now: number, times: Times): Row | null {
  if (row.status === 'cancelling') return { ...row, resume_requested: true }
  const with_message = { ...row, has_unread_messages: true }
  if (isTerminal(row.status)) return again(with_message, now, times, true)
  if (row.status === 'paused') return again(with_message, now, times, false)
  if (row.status === 'waiting')
    return { ...with_message, pausing: false, claimable: true, deadline_at: now + times.queue }
  return { ...with_message, pausing: false }
}

/**
 * Releases a run of a lost owner to the next worker, and ends runs that may have no further worker or whose
 * deadline is over; a run that waits for checks continues then.
 */
export function swept(row: Row, now: number, max_losses: number, times: Times): Row {
  const { queue } = times
  const overdue = row.deadline_at !== null && row.deadline_at < now
  if (row.lease_until === null) {
    if (!overdue || (row.status !== 'queued' && row.status !== 'waiting')) return row
    if (row.of_checks && !row.claimable) return { ...row, claimable: true, deadline_at: now + queue }
    return timedOut(row.recovering ? { ...row, epoch: row.epoch + 1 } : row)
  }
  if (row.lease_until >= now) return row
  const next = afterLoss({ ...row, overdue }, max_losses)
  const taken = { ...row, epoch: row.epoch + 1 }
  const stalls = row.stalls + (row.stalled ? 1 : 0)
  if (next === 'cancelled') return settled(taken, now, times)
  if (next === 'paused') return paused(taken)
  if (next === 'timeout') return timedOut(taken)
  if (next === 'stalled') return { ...timedOut(taken), status_reason: 'worker_stalled' }
  if (next === 'lost') return { ...timedOut(taken), status_reason: 'lost' }
  return {
    ...taken,
    ...at_rest,
    status: 'queued',
    claimable: true,
    recovering: true,
    losses: row.losses + 1,
    stalls,
  }
}

const timedOut = (row: Row): Row => ({
  ...row,
  ...at_rest,
  status: 'failed',
  status_reason: 'timeout',
  deadline_at: null,
})
