import type { Transactional } from './database.ts'
import type { RunRow } from './runs.ts'

export type Lease = { owner: string; seconds: number; turn_seconds: number }

const claimed = `status = case status when 'waiting' then 'running' else 'starting' end,
        phase = case when status = 'waiting' then 'agent' when journal_count = 0 then 'clone'
          when exists (select 1 from journal j where j.run_id = runs.id and j.turn = runs.turn) then 'recover' else 'checkout' end,
        waiting_on = null,
        owner = $1, epoch = epoch + 1, lease_until = now() + make_interval(secs => $2), runnable_at = null,
        deadline_at = case when recovering_since is null then now() + make_interval(secs => $3) else deadline_at end,
        started_at = coalesce(started_at, now()), updated_at = now(), last_progress_at = now()`

/**
 * The longest-waiting run that may be claimed, now owned by `owner` for `lease.seconds`; undefined when there is none. Database clock.
 * A turn that begins has `turn_seconds` from now on; one that another worker had begun keeps its deadline.
 * Runs of an organization that has as many at work as it may have are passed over.
 */
export async function claimRun(db: Transactional, lease: Lease): Promise<RunRow | undefined> {
  const passed: number[] = []
  for (;;) {
    const next = await claimUnbounded(db, lease, passed)
    if (next === undefined || next.bounded_organization_id === null) return next
    const run = await claimBounded(db, lease, next.bounded_organization_id)
    if (run) return run
    passed.push(next.bounded_organization_id)
  }
}

/** Claims the next run unless its organization has a bound: then it is only named. */
async function claimUnbounded(db: Transactional, lease: Lease, passed: number[]) {
  const { rows } = await db.query<RunRow & { bounded_organization_id: number | null }>({
    name: 'claim_run',
    text: `with next as (
        select r.id, case when o.max_concurrent_runs is not null then o.id end as bounded_organization_id
        from runs r join organizations o on o.id = r.organization_id
        where r.runnable_at <= now() and r.organization_id <> all ($4::bigint[]) and r.organization_id not in (
          select f.id from organizations f join runs w on w.organization_id = f.id and w.lease_until is not null
          where f.max_concurrent_runs is not null group by f.id having count(*) >= f.max_concurrent_runs)
        order by r.runnable_at, r.id for update of r skip locked limit 1
      ), claimed as (update runs set ${claimed} from next where runs.id = next.id and next.bounded_organization_id is null returning runs.*)
      select claimed.*, next.bounded_organization_id, null as queue_position from next left join claimed on true`,
    values: [lease.owner, lease.seconds, lease.turn_seconds, passed],
  })
  return rows[0]
}

/** One claim at a time for each organization with a bound: what is counted under its lock is exact. */
async function claimBounded(db: Transactional, lease: Lease, organization_id: number): Promise<RunRow | undefined> {
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
          where r.organization_id = $4 and r.runnable_at <= now() and (o.max_concurrent_runs is null or o.max_concurrent_runs >
            (select count(*) from runs w where w.organization_id = $4 and w.lease_until is not null))
          order by r.runnable_at, r.id for update of r skip locked limit 1)
        returning *, null as queue_position`,
      values: [lease.owner, lease.seconds, lease.turn_seconds, organization_id],
    })
    return rows[0]
  })
}
