import { allRows, type Db } from '../database.ts'
import { setOf, woken } from '../runs/run-states.ts'

/** Returns commits whose checks runs wait for, of all organizations: for the sweep. */
export function listWaitingHeads(
  db: Db,
  limit: number,
): Promise<{ organization_id: number; repository_id: number; head_sha: string }[]> {
  return allRows<{ organization_id: number; repository_id: number; head_sha: string }>(db, {
    name: 'list_waiting_heads',
    text: `select distinct organization_id, repository_id, pushed_sha as head_sha
      from runs
      where status = 'waiting' and waiting_on = 'ci' and runnable_at is null and pushed_sha is not null
      limit $1`,
    values: [limit],
  })
}

/**
 * Wakes runs that no longer need to wait for checks of their pushed commit: all reported checks have
 * completed, or one of a high-priority app has failed, or the pull request was closed or merged, or the
 * deadline passed. They have `deadline_seconds` to find a worker.
 */
export function wakeChecked(
  db: Db,
  deadline_seconds: number,
  limit: number,
): Promise<{ organization_id: number; id: number }[]> {
  return allRows<{ organization_id: number; id: number }>(db, {
    name: 'wake_checked',
    text: `update runs
      set ${setOf(woken('$1'))}
      where id in (
        select r.id
        from runs r
        where r.status = 'waiting'
          and r.waiting_on = 'ci'
          and r.runnable_at is null
          and (
            r.deadline_at < now()
            or exists (
              select
              from pull_requests p
              where p.organization_id = r.organization_id
                and p.repository_id = r.repository_id
                and p.run_id = r.id
                and p.head_branch = r.branch
                and p.state in ('closed', 'merged')
            )
            or (
              select bool_and(c.status = 'completed')
                or bool_or(
                  c.conclusion not in ('success', 'neutral', 'skipped')
                  and s.high_priority_apps::jsonb ? c.app
                )
              from checks c
              left join check_suite_settings s using (organization_id, repository_id)
              where c.organization_id = r.organization_id
                and c.repository_id = r.repository_id
                and c.head_sha = r.pushed_sha
                and c.source <> 'local'
                and not coalesce(s.ignored_checks::jsonb ? c.name, false)
            )
          )
        order by r.id
        for update of r skip locked
        limit $2
      )
      returning organization_id, id`,
    values: [deadline_seconds, limit],
  })
}

/** Returns runs that have ended with this commit pushed and whose pull request is open. */
export async function findRunsAt(
  db: Db,
  organization_id: number,
  repository_id: number,
  head_sha: string,
): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: 'find_runs_at',
    text: `select r.id
      from pull_requests p
      join runs r on r.organization_id = p.organization_id and r.id = p.run_id
      where p.organization_id = $1
        and p.repository_id = $2
        and p.head_sha = $3
        and p.state in ('open', 'draft')
        and r.pushed_sha = $3
        and r.status = 'completed'
        and not r.banned
      order by r.id`,
    values: [organization_id, repository_id, head_sha],
  })
  return rows.map(row => row.id)
}
