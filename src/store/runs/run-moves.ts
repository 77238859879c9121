import type { RunPhase, RunStatus, StatusReason, WaitingReason } from '../../contract/runs/runs.ts'
import { MAX_STALLS } from '../../core/runs/after-lost-worker.ts'
import { CALL } from '../../core/runs/approved-call.ts'
import { isConsistent, mayMove } from '../../core/runs/run-transitions.ts'
import { add_to_day, today } from '../access/usage-days.ts'
import type { Db } from '../database.ts'

export type Move = {
  from: RunStatus[]
  to: RunStatus
  status_reason?: StatusReason | null
  phase?: RunPhase | null
  waiting_on?: WaitingReason | null
  result?: string | null
  error?: { code: string; message: string } | null
  /** The seconds until a new deadline. Without it the deadline stays. */
  deadline_seconds?: number
  /** Only a run with a requested pause that was not withdrawn, or one past its deadline. */
  only?: 'pausing' | 'overdue'
}

/** How long a worker has to release a run that must stop, before the sweep takes it over (specification.md#run-status: 10 s in all). */
const FENCE_SECONDS = 5

/**
 * Moves a run from one of `from` to `to`: the only statement for status changes of workers and stops. Returns false when the run is no longer in
 * `from`, or `epoch` is no longer its epoch; then nothing was changed.
 */
export async function moveRun(db: Db, organization_id: number, id: number, epoch: number | null, move: Move): Promise<boolean> {
  requireAllowed(move)
  const { rowCount } = await db.query({
    name: 'move_run',
    text: `with moved as (update runs set status = $5, status_reason = $6, phase = $7, waiting_on = $8,
        result = coalesce($9, result), error_code = $10, error_message = $11,
        lease_until = case when $5 in ('starting', 'running') then lease_until when $5 = 'cancelling' then now() + make_interval(secs => $12) end,
        owner = case when $5 in ('starting', 'running', 'cancelling') then coalesce(owner, 'nobody') end,
        recovering_since = null, recovery_cause = null,
        runnable_at = case when $5 = 'waiting' and pending_messages > 0 then now() end,
        deadline_at = case when $5 = 'cancelling' then now() + make_interval(secs => $12) when $13::float8 is not null then now() + make_interval(secs => $13)
          when $5 in ('completed', 'failed', 'cancelled', 'paused') then null else deadline_at end,
        finished_at = case when $5 in ('completed', 'failed', 'cancelled') then now() end,
        reserved_usd = case when $5 in ('starting', 'running') then reserved_usd else 0 end,
        approved_sha = case when $5 in ('completed', 'failed', 'cancelled') and approved_sha like '${CALL}%' then null else approved_sha end,
        updated_at = now(), last_progress_at = now()
      where organization_id = $1 and id = $2 and ($3::int is null or epoch = $3) and status = any($4) and ($14::text is null
          or ($14 = 'pausing' and pause_requested_at is not null) or ($14 = 'overdue' and deadline_at < now()))
        returning id, organization_id, user_id, repository_id, model, status, status_reason, source_type
      ), ended as (
        insert into usage_days (organization_id, day, run_id, model, user_id, repository_id,
          completed, completed_with_reason, failed, cancelled)
        select organization_id, ${today}, id, model, user_id, repository_id,
          (status = 'completed')::int, (status = 'completed' and status_reason is not null)::int,
          (status = 'failed')::int, (status = 'cancelled')::int
        from moved where status in ('completed', 'failed', 'cancelled') and source_type <> 'LOCAL' ${add_to_day}
      )
      select 1 from moved`,
    values: [
      organization_id,
      id,
      epoch,
      move.from,
      move.to,
      move.status_reason ?? null,
      move.phase ?? null,
      move.waiting_on ?? null,
      move.result ?? null,
      move.error?.code ?? null,
      move.error?.message ?? null,
      FENCE_SECONDS,
      move.deadline_seconds ?? null,
      move.only ?? null,
    ],
  })
  return rowCount === 1
}

/** Throws for a move that the table of specification.md#run-status does not allow, which is a bug. */
function requireAllowed({ from, to, status_reason = null, phase = null, waiting_on = null }: Move) {
  const forbidden = from.find(status => status !== to && !mayMove({ from: status, to }))
  if (forbidden) throw new Error(`a run does not move from ${forbidden} to ${to}`)
  if (!isConsistent({ status: to, status_reason, phase, waiting_on }))
    throw new Error(`a run cannot be ${to} with ${status_reason}, ${phase}, ${waiting_on}`)
}

/** Records who requested a stop and when, for the run's owner to see. The status moves separately. */
export async function recordStop(db: Db, organization_id: number, id: number, user_id: number): Promise<void> {
  await db.query({
    name: 'record_stop',
    text: 'update runs set stop_requested_at = coalesce(stop_requested_at, now()), stop_requested_by = coalesce(stop_requested_by, $3) where organization_id = $1 and id = $2',
    values: [organization_id, id, user_id],
  })
}

/**
 * Requeues a run for a new turn of an ended run, or to continue a paused one: claimable, with the end of the last turn cleared. One that stalled
 * its process keeps a worker of its own until it completes a turn.
 */
export async function requeueRun(
  db: Db,
  organization_id: number,
  id: number,
  next: { from: RunStatus[]; new_turn: boolean; deadline_seconds: number; only?: 'resume_requested' },
): Promise<boolean> {
  const forbidden = next.from.find(status => !mayMove({ from: status, to: 'queued', by_resume: true }))
  if (forbidden) throw new Error(`a run does not move from ${forbidden} to queued`)
  const { rowCount } = await db.query({
    name: 'requeue_run',
    text: `update runs set status = 'queued', status_reason = null, phase = null, waiting_on = null, runnable_at = now(),
        turn = turn + case when $4 then 1 else 0 end, result = '', error_code = null, error_message = null, finished_at = null,
        pending_messages = (select count(*) from messages m where m.run_id = runs.id and m.delivered_at is null and m.turn <= runs.turn + case when $4 then 1 else 0 end),
        stop_requested_at = null, stop_requested_by = null, interrupt_requested = false,
        losses = 0, stalls = case when status = 'completed' then 0 else least(stalls, ${MAX_STALLS}) end, recovering_since = null, recovery_cause = null,
        pause_requested_at = null, pause_requested_by = null, resume_requested_at = null, reserved_usd = 0, turn_active_ms = case when $4 then 0 else turn_active_ms end,
        turn_started_at = now(),
        deadline_at = now() + make_interval(secs => $5), updated_at = now(), last_progress_at = now()
      where organization_id = $1 and id = $2 and status = any($3) and ($6::text is null or resume_requested_at is not null)`,
    values: [organization_id, id, next.from, next.new_turn, next.deadline_seconds, next.only ?? null],
  })
  return rowCount === 1
}

/**
 * Requests a new turn for a run that is being stopped, to start after the stop. `wanted` false withdraws it and returns whether there was one.
 */
export async function requestResume(db: Db, organization_id: number, id: number, wanted: boolean): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'request_resume',
    text: `update runs set resume_requested_at = case when $3 then coalesce(resume_requested_at, now()) end, updated_at = now()
      where organization_id = $1 and id = $2 and status = 'cancelling' and ($3 or resume_requested_at is not null)`,
    values: [organization_id, id, wanted],
  })
  return rowCount === 1
}

/** Makes a waiting run claimable after its question was answered, for `deadline_seconds`; its status stays `waiting`. */
export async function wakeRun(db: Db, organization_id: number, id: number, deadline_seconds: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'wake_run',
    text: `update runs set runnable_at = coalesce(runnable_at, now()), deadline_at = now() + make_interval(secs => $3), updated_at = now() where organization_id = $1 and id = $2 and status = 'waiting'`,
    values: [organization_id, id, deadline_seconds],
  })
  return rowCount === 1
}

/**
 * Requeues a run whose sandbox was lost, for any worker. It counts as a loss of the turn. Returns false when another worker owns the run, when
 * it must stop or pause, or when it already has `max_losses`.
 */
export async function requeueLostSandbox(db: Db, organization_id: number, id: number, epoch: number, max_losses: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'requeue_lost_sandbox',
    text: `update runs set status = 'queued', phase = null, runnable_at = now(), lease_until = null, owner = null, epoch = epoch + 1,
        losses = losses + 1, recovering_since = now(), recovery_cause = 'lease_lost', updated_at = now()
      where organization_id = $1 and id = $2 and epoch = $3 and status in ('starting', 'running') and pause_requested_at is null and losses < $4`,
    values: [organization_id, id, epoch, max_losses],
  })
  return rowCount === 1
}

/** Requeues a run in the middle of its turn, for any worker. Returns false when another worker owns it, or when it must stop or pause. */
export async function handOverRun(db: Db, organization_id: number, id: number, epoch: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'hand_over_run',
    text: `update runs set status = 'queued', phase = null, runnable_at = now(), lease_until = null, owner = null, epoch = epoch + 1,
        recovering_since = now(), recovery_cause = 'handed_over', updated_at = now()
      where organization_id = $1 and id = $2 and epoch = $3 and status in ('starting', 'running') and pause_requested_at is null`,
    values: [organization_id, id, epoch],
  })
  return rowCount === 1
}
