import type { RunStatus } from '../contract/runs.ts'
import type { Db, Transactional } from './database.ts'
import type { RunRow } from './runs.ts'
import { add_to_day, today } from './usage-days.ts'

const claimed = `status = case status when 'waiting' then 'running' else 'starting' end,
        phase = case when status = 'waiting' then 'agent' when journal_count = 0 then 'clone'
          when exists (select 1 from journal j where j.run_id = runs.id and j.turn = runs.turn) then 'recover' else 'checkout' end,
        waiting_on = null,
        owner = $1, epoch = epoch + 1, lease_until = now() + make_interval(secs => $2), runnable_at = null,
        started_at = coalesce(started_at, now()), updated_at = now(), last_progress_at = now()`

/**
 * The longest-waiting run that may be claimed, now owned by `owner` for `lease_seconds`; undefined when there is none. Database clock.
 * Runs of an organization that has as many at work as it may have are passed over.
 */
export async function claimRun(db: Transactional, owner: string, lease_seconds: number): Promise<RunRow | undefined> {
  const passed: number[] = []
  for (;;) {
    const next = await claimUnbounded(db, owner, lease_seconds, passed)
    if (next === undefined || next.bounded_organization_id === null) return next
    const run = await claimBounded(db, owner, lease_seconds, next.bounded_organization_id)
    if (run) return run
    passed.push(next.bounded_organization_id)
  }
}

/** Claims the next run unless its organization has a bound: then it is only named. */
async function claimUnbounded(db: Transactional, owner: string, lease_seconds: number, passed: number[]) {
  const { rows } = await db.query<RunRow & { bounded_organization_id: number | null }>({
    name: 'claim_run',
    text: `with next as (
        select r.id, case when o.max_concurrent_runs is not null then o.id end as bounded_organization_id
        from runs r join organizations o on o.id = r.organization_id
        where r.runnable_at <= now() and r.organization_id <> all ($3::bigint[]) and r.organization_id not in (
          select f.id from organizations f join runs w on w.organization_id = f.id and w.lease_until is not null
          where f.max_concurrent_runs is not null group by f.id having count(*) >= f.max_concurrent_runs)
        order by r.runnable_at, r.id for update of r skip locked limit 1
      ), claimed as (update runs set ${claimed} from next where runs.id = next.id and next.bounded_organization_id is null returning runs.*)
      select claimed.*, next.bounded_organization_id, null as queue_position from next left join claimed on true`,
    values: [owner, lease_seconds, passed],
  })
  return rows[0]
}

/** One claim at a time for each organization with a bound: what is counted under its lock is exact. */
async function claimBounded(db: Transactional, owner: string, lease_seconds: number, organization_id: number): Promise<RunRow | undefined> {
  return db.transaction(async tx => {
    await tx.query({
      name: 'lock_organization',
      text: 'select 1 from organizations where id = $1 for no key update',
      values: [organization_id],
    })
    const { rows } = await tx.query<RunRow>({
      name: 'claim_run_of',
      text: `update runs set ${claimed}
        where id = (select r.id from runs r join organizations o on o.id = r.organization_id
          where r.organization_id = $3 and r.runnable_at <= now() and (o.max_concurrent_runs is null or o.max_concurrent_runs >
            (select count(*) from runs w where w.organization_id = $3 and w.lease_until is not null))
          order by r.runnable_at, r.id for update of r skip locked limit 1)
        returning *, null as queue_position`,
      values: [owner, lease_seconds, organization_id],
    })
    return rows[0]
  })
}

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

export type LostRun = { id: number; organization_id: number; status: RunStatus; turn: number; epoch: number }

/** Runs whose owner let the lease end. The epoch is raised at once, so that nothing of that owner is taken any more. */
export async function takeExpired(db: Db, limit: number): Promise<LostRun[]> {
  const { rows } = await db.query<LostRun>({
    name: 'take_expired',
    text: `update runs set epoch = epoch + 1, owner = null, lease_until = now() + interval '10 seconds'
      where id in (select id from runs where lease_until < now() order by lease_until for update skip locked limit $1)
      returning id, organization_id, status, turn, epoch`,
    values: [limit],
  })
  return rows
}

/** Runs that nobody works on and whose time is over: queued or waiting past their deadline. */
export async function listOverdue(db: Db, limit: number): Promise<LostRun[]> {
  const { rows } = await db.query<LostRun>({
    name: 'list_overdue',
    text: `select id, organization_id, status, turn, epoch from runs where deadline_at < now() and status in ('queued', 'waiting') order by deadline_at limit $1`,
    values: [limit],
  })
  return rows
}
