import { allRows, type Db, only } from '../database.ts'
import { queue_deletions, wake_deliverers } from '../webhooks/webhook-deliveries.ts'

// Any number: every process that removes old runs of this database must use the same lock.
const LOCK = 4_600_002

/** Acquires the retention lock until the transaction ends. Returns false when another process holds it. */
export async function holdRetention(tx: Db): Promise<boolean> {
  const { rows } = await tx.query<{ acquired: boolean }>({
    name: 'hold_retention',
    text: `select pg_try_advisory_xact_lock(${LOCK}) as acquired`,
  })
  return only(rows).acquired
}

/** `entries`: of trace and journal together. */
export type ExpiredRun = { organization_id: number; id: number; entries: number }

/** Returns runs that ended more than `days` ago, the longest ended first. */
export function listExpiredRuns(db: Db, days: number, limit: number): Promise<ExpiredRun[]> {
  return allRows<ExpiredRun>(db, {
    name: 'list_expired_runs',
    text: `select organization_id, id, total_logs + journal_count as entries
      from runs
      where finished_at < now() - make_interval(days => $1)
      order by finished_at
      limit $2`,
    values: [days, limit],
  })
}

/**
 * Locks those of the runs that ended more than `days` ago and that no other transaction has locked, until the
 * transaction ends.
 */
export function lockExpiredRuns(
  tx: Db,
  organization_id: number,
  ids: number[],
  days: number,
): Promise<ExpiredRun[]> {
  return allRows<ExpiredRun>(tx, {
    name: 'lock_expired_runs',
    text: `select organization_id, id, total_logs + journal_count as entries
      from runs
      where organization_id = $1
        and id = any($2::bigint[])
        and finished_at < now() - make_interval(days => $3)
      order by id
      for update skip locked`,
    values: [organization_id, ids, days],
  })
}

/**
 * Removes ended runs with their traces, journals, messages, events, changes and artifacts, and records events
 * of the deletion, also for their webhooks: nothing of the runs remains but their webhook addresses. Their
 * children, pull requests and usage stay; their folders are left to the sweep of the machine that has them.
 * Returns how many were removed. `user_id` null: their retention period is over.
 */
export async function deleteEndedRuns(
  tx: Db,
  organization_id: number,
  ids: number[],
  user_id: number | null,
): Promise<number> {
  const { rows } = await tx.query<{ gone: number }>({
    name: 'delete_ended_runs',
    text: `with gone as (
        delete from runs where organization_id = $1 and id = any($2::bigint[]) and status in ('completed', 'failed', 'cancelled')
        returning id, workspace, workspace_host, repository_id, webhooks
      ), left_over as (
        insert into leftover_workspaces (organization_id, run_id, workspace, host)
        select $1, id, workspace, workspace_host from gone where workspace is not null and workspace_host is not null
      ), sequence as (
        update organizations set event_seq = event_seq + (select count(*) from gone) where id = $1 and exists (select from gone) returning event_seq
      ), numbered as (
        select gone.*, sequence.event_seq + 1 - row_number() over (order by gone.id desc) as seq from gone, sequence
      ), recorded as (
        insert into events (organization_id, seq, run_id, type, body)
        select $1, seq, null, 'agent_run.deleted', json_build_object('agent_run_id', id, 'user_id', $3::bigint)::text from numbered
      ), ${queue_deletions}
      select (select count(*) from gone) as gone, (${wake_deliverers})`,
    values: [organization_id, ids, user_id],
  })
  return only(rows).gone
}

/**
 * From this number of entries on, a run is too long to be removed by one statement, which could exceed the
 * statement timeout.
 */
export const LONG_TRACE = 20_000

/**
 * Removes the first `limit` entries of a trace and as many records of its journal, in the transaction that
 * then removes the run. Returns how many there were.
 */
export async function deleteFirstEntries(
  tx: Db,
  organization_id: number,
  run_id: number,
  limit: number,
): Promise<number> {
  const first = (table: string, column: string) => `delete from ${table}
    where organization_id = $1
      and run_id = $2
      and ${column} < (select min(${column}) + $3 from ${table} where organization_id = $1 and run_id = $2)
    returning 1`
  const { rows } = await tx.query<{ deleted: number }>({
    name: 'delete_first_entries',
    text: `with entries as (${first('log_entries', 'seq')}),
      records as (${first('journal', 'n')})
      select (select count(*) from entries) + (select count(*) from records) as deleted`,
    values: [organization_id, run_id, limit],
  })
  return only(rows).deleted
}

/** Deletes events about runs that were deleted more than `days` ago. Returns how many there were. */
export async function deleteOldDeletions(db: Db, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'delete_old_deletions',
    text: `delete from events
      where (organization_id, seq) in (
        select organization_id, seq
        from events
        where run_id is null and created_at < now() - make_interval(days => $1)
        order by created_at
        limit $2
      )`,
    values: [days, limit],
  })
  return rowCount ?? 0
}
