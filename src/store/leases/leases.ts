import type { RunStatus } from '../../contract/runs/runs.ts'
import { END_SECONDS, LEASE_SECONDS } from '../../core/runs/lease.ts'
import { RECORDED_OWNER } from '../../core/runs/recorded-run.ts'
import { add_to_day, today } from '../access/usage-days.ts'
import { allRows, type Db } from '../database.ts'
import { isHeldBy } from '../fence.ts'
import { is_stalled } from '../runs/run-states.ts'
import { ownerIsDead } from './worker-sessions.ts'

/** A heartbeat without a response after this time is retried, because the lease keeps expiring. */
const HEARTBEAT_TIMEOUT_MS = 2_000

/**
 * The renewal of one claim. `worked_ms`: active time to count; `progressed`: the run made progress since the
 * last heartbeat.
 */
export type Beat = {
  organization_id: number
  run_id: number
  epoch: number
  worked_ms: number
  progressed: boolean
}
export type HeartbeatResult = {
  status: RunStatus
  interrupt_requested: boolean
  deadline_passed: boolean
  pausing: boolean
}

/** Extends the lease of a claim like `heartbeats`. Returns undefined when another worker owns the run. */
export async function heartbeat(
  db: Db,
  beat: Beat,
  lease_seconds: number,
): Promise<HeartbeatResult | undefined> {
  const [result] = await renew(db, [beat], lease_seconds, 'heartbeat', '')
  return result
}

/**
 * Extends the leases of the claims of a process, except of runs that must stop or pause, and never much past
 * the deadline; counts the active time. Returns undefined for each claim that is not renewed: another worker
 * owns the run, or another transaction has locked its row at this moment, for which the other runs must not
 * wait.
 */
export async function heartbeats(
  db: Db,
  beats: readonly Beat[],
  lease_seconds: number,
): Promise<(HeartbeatResult | undefined)[]> {
  return renew(db, beats, lease_seconds, 'heartbeats', 'skip locked')
}

async function renew(
  db: Db,
  beats: readonly Beat[],
  lease_seconds: number,
  name: string,
  lock_mode: 'skip locked' | '',
) {
  const { rows } = await db.query<HeartbeatResult & { id: number; epoch: number }>({
    name,
    query_timeout: HEARTBEAT_TIMEOUT_MS,
    text: `with claims as (
        select *
        from unnest(
          $1::bigint[], $2::bigint[], $3::int[], $4::bigint[], $5::boolean[]
        ) as c (of_organization, run_id, claimed_epoch, worked_ms, progressed)
      ),
      held as (
        select id, worked_ms, progressed
        from claims
        join runs on organization_id = of_organization and id = run_id
        where ${isHeldBy('claimed_epoch')}
        order by id
        for no key update of runs ${lock_mode}
      ),
      beat as (
        update runs r
        set active_ms = active_ms + worked_ms, turn_active_ms = turn_active_ms + worked_ms,
          last_progress_at = case when progressed then now() else last_progress_at end,
          lease_until = case when status = 'cancelling' or pause_requested_at is not null then lease_until else least(
            now() + make_interval(secs => $6), deadline_at + make_interval(secs => $7)
          ) end
        from held
        where r.id = held.id
        returning r.id, organization_id, user_id, repository_id, model, status, epoch, interrupt_requested,
          deadline_at, pause_requested_at, worked_ms
      ),
      worked as (
        insert into usage_days (organization_id, day, run_id, model, user_id, repository_id, active_ms)
        select organization_id, ${today}, id, model, user_id, repository_id, worked_ms
        from beat
        where worked_ms > 0 ${add_to_day}
      )
      select id, epoch, status, interrupt_requested, coalesce(deadline_at < now(), false) as deadline_passed,
        pause_requested_at is not null as pausing
      from beat`,
    values: [
      beats.map(({ organization_id }) => organization_id),
      beats.map(({ run_id }) => run_id),
      beats.map(({ epoch }) => epoch),
      beats.map(({ worked_ms }) => Math.round(worked_ms)),
      beats.map(({ progressed }) => progressed),
      lease_seconds,
      END_SECONDS,
    ],
  })
  return beats.map(({ run_id, epoch }): HeartbeatResult | undefined =>
    rows.find(row => row.id === run_id && row.epoch === epoch),
  )
}

/**
 * The process that sweeps: its data folder and its name as an owner of runs; null for a process without a
 * worker.
 */
export type Sweeper = { folder_id: string | null; owner: string | null }
/** `late_seconds`: how long ago a lease must have expired to be taken. */
type Sweep = Sweeper & { late_seconds: number; limit: number }

/** A run without a worker that the sweep continues or ends. */
export type LostRun = {
  id: number
  organization_id: number
  status: RunStatus
  turn: number
  epoch: number
  losses: number
  /** How often the run has stalled its process in this turn, without this time; `stalled`: this time too. */
  stalls: number
  stalled: boolean
  pausing: boolean
  overdue: boolean
  /** The sandbox that the former owner left on its machine. */
  sandbox: string | null
}

const lost = `id, organization_id, status, turn, epoch, losses, stalls, sandbox,
  pause_requested_at is not null as pausing, coalesce(deadline_at < now(), false) as overdue`
/** Recorded sessions have no worker that could be lost; `listAbandoned` finds their end. */
const of_worker = `owner is not null and owner <> '${RECORDED_OWNER}'`
/** Expired for $2 seconds; or far in the future, because the clock of the database was set back. */
const lease_over = `(lease_until < now() - make_interval(secs => $2) or lease_until > now() + interval '10 minutes'
  or ${ownerIsDead(LEASE_SECONDS, '$2', '$3', '$4')})`

/**
 * False for runs that a person stops or pauses. They come first, however many leases were lost before: a stop
 * takes at most 10 s (specification.md#run-status).
 */
const continues = `(status <> 'cancelling' and pause_requested_at is null)`

/**
 * Locks runs whose lease expired or whose owner is dead, and recovering runs past their deadline that no
 * worker has claimed. Until the transaction ends, the caller decides what happens to them.
 */
export function lockExpired(tx: Db, { late_seconds, limit, folder_id, owner }: Sweep): Promise<LostRun[]> {
  return allRows<LostRun>(tx, {
    name: 'lock_expired',
    // Two lists, because `or` of the two would read all runs.
    text: `with expired as (
        select ${lost}, ${is_stalled} as stalled
        from runs
        where ${of_worker} and ${lease_over}
        order by ${continues}, lease_until
        for update skip locked
        limit $1
      ),
      overdue as (
        select ${lost}, false as stalled
        from runs
        where runnable_at is not null
          and recovering_since is not null
          and owner is null
          and deadline_at < now()
        for update skip locked
        limit $1
      )
      select *
      from expired
      union all select *
      from overdue`,
    values: [limit, late_seconds, folder_id, owner],
  })
}

/** Takes over runs that the caller has locked and that no worker may continue: it owns them afterwards. */
export async function takeOver(tx: Db, runs: readonly LostRun[]): Promise<LostRun[]> {
  await tx.query({
    name: 'take_over',
    text: `update runs
      set epoch = epoch + 1, owner = 'sweep', lease_until = now() + interval '10 seconds',
        stalled_epoch = case when stalled then epoch + 1 end
      from unnest($1::bigint[], $2::boolean[]) as taken (taken_id, stalled)
      where id = taken_id`,
    values: [runs.map(({ id }) => id), runs.map(({ stalled }) => stalled)],
  })
  return runs.map(run => ({ ...run, epoch: run.epoch + 1 }))
}

/**
 * Returns runs without an owner that are past their deadline: queued or waiting. Those that wait for checks
 * continue then.
 */
export function listOverdue(db: Db, limit: number): Promise<LostRun[]> {
  return allRows<LostRun>(db, {
    name: 'list_overdue',
    text: `select ${lost}, false as stalled
      from runs
      where deadline_at < now()
        and status in ('queued', 'waiting')
        and recovering_since is null
        and (waiting_on is distinct from 'ci' or runnable_at is not null)
      order by deadline_at
      limit $1`,
    values: [limit],
  })
}

/** Returns recorded runs whose session has reported nothing for `MAX_SILENCE_SECONDS`. */
export function listAbandoned(db: Db, limit: number): Promise<LostRun[]> {
  return allRows<LostRun>(db, {
    name: 'list_abandoned',
    text: `select ${lost}, false as stalled
      from runs
      where owner = '${RECORDED_OWNER}' and deadline_at < now()
      order by deadline_at
      limit $1`,
    values: [limit],
  })
}
