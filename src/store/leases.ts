import type { RunStatus } from '../contract/runs.ts'
import type { Db } from './database.ts'
import { add_to_day, today } from './usage-days.ts'

/** A beat that does not get through in this time is tried again: the lease goes on running out. */
const BEAT_TIMEOUT_MS = 2_000

export type HeartbeatAnswer = { status: RunStatus; interrupt_requested: boolean; deadline_passed: boolean }

/** Extends the lease, but not that of a run that must stop, and counts the time worked. Undefined: the run is not ours any more. */
export async function heartbeat(
  db: Db,
  claim: { organization_id: number; run_id: number; epoch: number },
  lease_seconds: number,
  worked_ms: number,
): Promise<HeartbeatAnswer | undefined> {
  const { rows } = await db.query<HeartbeatAnswer>({
    name: 'heartbeat',
    query_timeout: BEAT_TIMEOUT_MS,
    text: `with beat as (update runs set active_ms = active_ms + $5,
          lease_until = case when status = 'cancelling' then lease_until else now() + make_interval(secs => $4) end
        where organization_id = $1 and id = $2 and epoch = $3 and lease_until is not null
        returning id, organization_id, user_id, repository_id, model, status, interrupt_requested, deadline_at
      ), worked as (
        insert into usage_days (organization_id, day, run_id, model, user_id, repository_id, active_ms)
        select organization_id, ${today}, id, model, user_id, repository_id, $5 from beat where $5 > 0 ${add_to_day}
      )
      select status, interrupt_requested, coalesce(deadline_at < now(), false) as deadline_passed from beat`,
    values: [claim.organization_id, claim.run_id, claim.epoch, lease_seconds, Math.round(worked_ms)],
  })
  return rows[0]
}

export type LostRun = {
  id: number
  organization_id: number
  status: RunStatus
  turn: number
  epoch: number
  /** Where the owner worked, and the sandbox that it left there. */
  workspace_host: string | null
  sandbox: string | null
}

const lost = 'id, organization_id, status, turn, epoch, workspace_host, sandbox'

/**
 * Runs whose owner let the lease end go back to the queue, for another worker to go on with, unless they have lost `max_losses` in this
 * turn. The epoch is raised at once, so that nothing of that owner is taken any more.
 */
export async function requeueExpired(db: Db, max_losses: number, limit: number): Promise<LostRun[]> {
  const { rows } = await db.query<LostRun>({
    name: 'requeue_expired',
    text: `update runs set status = 'queued', phase = null, owner = null, lease_until = null, epoch = epoch + 1, runnable_at = now(),
        losses = losses + 1, recovering_since = lease_until, recovery_cause = 'lease_lost', updated_at = now()
      where id in (select id from runs where owner is not null and lease_until < now() and status in ('starting', 'running') and losses < $1
        order by lease_until for update skip locked limit $2)
      returning ${lost}`,
    values: [max_losses, limit],
  })
  return rows
}

/** Runs whose owner let the lease end and that nobody goes on with: they were stopping, or have lost too many owners. They are the caller's now. */
export async function takeExpired(db: Db, max_losses: number, limit: number): Promise<LostRun[]> {
  const { rows } = await db.query<LostRun>({
    name: 'take_expired',
    text: `update runs set epoch = epoch + 1, owner = 'sweep', lease_until = now() + interval '10 seconds'
      where id in (select id from runs where owner is not null and lease_until < now() and (status = 'cancelling' or losses >= $1)
        order by lease_until for update skip locked limit $2)
      returning ${lost}`,
    values: [max_losses, limit],
  })
  return rows
}

/** Runs that nobody works on and whose time is over: queued or waiting past their deadline. */
export async function listOverdue(db: Db, limit: number): Promise<LostRun[]> {
  const { rows } = await db.query<LostRun>({
    name: 'list_overdue',
    text: `select ${lost} from runs where deadline_at < now() and status in ('queued', 'waiting') order by deadline_at limit $1`,
    values: [limit],
  })
  return rows
}
