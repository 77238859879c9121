import { RECORDED_OWNER } from '../../core/runs/recorded-run.ts'
import { firstRow, type Transactional } from '../database.ts'
import { claimed, setOf } from '../runs/run-states.ts'
import type { RunRow } from '../runs/runs.ts'

/**
 * `runs`: the runs that the owner has, so that it claims none that stalled its process before: those work
 * alone. `only_children`: it claims only runs that others wait for, because one of its runs works alone.
 */
type Lease = {
  owner: string
  seconds: number
  turn_seconds: number
  runs?: readonly number[]
  only_children?: boolean
}

/**
 * After this time without an empty process, one process waits until it is empty for a run that must work
 * alone.
 */
const DRAIN_AFTER_SECONDS = 10
const LIVE_WORKER_SECONDS = 10

const claim = setOf(claimed({ owner: '$1', lease_seconds: '$2', turn_seconds: '$3' }))

// The order of an organization's queue, which is that of the index `runs_queue`: runs that recover come
// first, because nulls come last.
const queue = 'recovering_since, runnable_at, id'
const first = `select organization_id, recovering_since, runnable_at from runs`
const active_runs = (
  of: string,
) => `(select count(*) as runs from runs where organization_id = ${of} and owner is not null
  and owner <> '${RECORDED_OWNER}')`

// A run that stalled its process needs an empty one. If all are busy, the one with the first name claims
// nothing else until it is empty: not all of them, because one such run must not stop a cluster. Runs that
// others wait for are claimed anyway: without them no process becomes empty.
const drains = `exists (select from runs s join organizations o on o.id = s.organization_id
  where s.stalls > 0 and s.runnable_at < now() - interval '${DRAIN_AFTER_SECONDS} seconds'
    and (o.max_concurrent_runs is null or o.max_concurrent_runs > ${active_runs('s.organization_id')})
    and $1 = (select min(w.owner) from workers w where w.blocked_reason is null and w.concurrency > 0
      and w.seen_at > now() - interval '${LIVE_WORKER_SECONDS} seconds'))`
const is_awaited = `exists (select from runs p where p.organization_id = r.organization_id and p.id = r.parent_run_id and p.owner is not null)`
// The parent of a run may be beside it: it waits for its child.
const may_work_alone = `$5::bigint[] <@ array[r.parent_run_id]`
const claimable = (of: string) => `select r.id
  from runs r
  where r.organization_id = ${of}
    and r.runnable_at <= now()
    and (r.stalls = 0 or ${may_work_alone})
    and (r.stalls > 0 or not ($6::boolean or ${drains}) or ${is_awaited})`
const locked = `order by r.${queue.replaceAll(', ', ', r.')} for update of r skip locked limit 1`

/**
 * Claims the next run for `owner` for `lease.seconds`; undefined when there is none. Uses the database clock.
 * Recovering runs of any organization go first. Then comes the organization with the fewest active runs,
 * among equals the one whose first run has waited longest; an organization at its maximum of concurrent runs
 * is skipped. A new turn gets `turn_seconds` from now on; a recovering one keeps its deadline.
 */
export async function claimRun(db: Transactional, lease: Lease): Promise<RunRow | undefined> {
  const passed: number[] = []
  const busy: number[] = []
  for (;;) {
    const next = await claimUnbounded(db, lease, passed)
    if (next === undefined) break
    if (next.bounded_organization_id === null) return next
    const run = await claimBounded(db, lease, next.bounded_organization_id, 'skip locked')
    if (run !== 'busy' && run !== undefined) return run
    if (run === 'busy') busy.push(next.bounded_organization_id)
    passed.push(next.bounded_organization_id)
  }
  // No other organization has a claimable run: only now does it pay to wait for a row that another
  // transaction holds.
  for (const organization_id of busy) {
    const run = await claimBounded(db, lease, organization_id, '')
    if (run !== 'busy' && run !== undefined) return run
  }
  return undefined
}

/**
 * Claims the next run, or only names its organization if that has a maximum of concurrent runs. Moving from
 * one organization with queued runs to the next is one index step, however long their queues are, and only
 * the claimed row is locked.
 */
function claimUnbounded(db: Transactional, lease: Lease, passed: number[]) {
  return firstRow<RunRow & { bounded_organization_id: number | null }>(db, {
    name: 'claim_run',
    text: `with recursive heads as (
        (${first} where runnable_at is not null order by organization_id, ${queue} limit 1)
        union all select n.*
        from heads h
        cross join lateral (
          ${first} where runnable_at is not null
          and organization_id > h.organization_id order by organization_id, ${queue} limit 1
        ) n
      ),
      turns as materialized (
        select o.id as organization_id, h.recovering_since,
          case when o.max_concurrent_runs is not null then o.id end as bounded_organization_id
        from heads h
        join organizations o on o.id = h.organization_id
        cross join lateral ${active_runs('o.id')} w
        where o.id <> all ($4::bigint[]) and (o.max_concurrent_runs is null or w.runs < o.max_concurrent_runs)
        order by w.runs, h.runnable_at, o.id
      ),
      next as (
        (
          select r.id, t.bounded_organization_id
          from (select * from turns where recovering_since is not null order by recovering_since) t
          cross join lateral (
            ${claimable('t.organization_id')} and r.recovering_since is not null ${locked}
          ) r
          limit 1
        )
        union all (
          select r.id, t.bounded_organization_id
          from turns t
          cross join lateral (${claimable('t.organization_id')} ${locked}) r
          limit 1
        )
        limit 1
      ),
      claimed as (
        update runs
        set ${claim}
        from next
        where runs.id = next.id and next.bounded_organization_id is null
        returning runs.*
      )
      select claimed.*, next.bounded_organization_id
      from next
      left join claimed on true`,
    values: [
      lease.owner,
      lease.seconds,
      lease.turn_seconds,
      passed,
      lease.runs ?? [],
      lease.only_children ?? false,
    ],
  })
}

/**
 * Serializes claims of an organization with a maximum, so that the count under its lock is exact. 'busy':
 * another transaction holds the lock.
 */
async function claimBounded(
  db: Transactional,
  lease: Lease,
  organization_id: number,
  lock_mode: 'skip locked' | '',
): Promise<RunRow | 'busy' | undefined> {
  return db.transaction(async tx => {
    const { rows: locked_rows } = await tx.query({
      name: lock_mode === '' ? 'lock_organization' : 'try_lock_organization',
      text: `select 1 from organizations where id = $1 for no key update ${lock_mode}`,
      values: [organization_id],
    })
    if (locked_rows.length === 0) return 'busy'
    const { rows } = await tx.query<RunRow>({
      name: 'claim_run_of',
      text: `update runs
        set ${claim}
        where id = (
          ${claimable('$4')}
          and (
            select o.max_concurrent_runs is null or o.max_concurrent_runs > ${active_runs('$4')}
            from organizations o
            where o.id = $4
          ) ${locked}
        )
        returning *`,
      values: [
        lease.owner,
        lease.seconds,
        lease.turn_seconds,
        organization_id,
        lease.runs ?? [],
        lease.only_children ?? false,
      ],
    })
    return rows[0]
  })
}
