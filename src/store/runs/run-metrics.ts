import type { RunStatus } from '../../contract/runs/runs.ts'
import type { Db } from '../database.ts'
import { only } from '../database.ts'

type RunMetrics = {
  /** Across all organizations; runs that have ended are not counted. */
  by_status: Partial<Record<RunStatus, number>>
  /** Runs that a worker may claim, and how long the oldest of them has waited. */
  claimable: number
  oldest_seconds: number
}

/** Returns the load of this database for the operator: no organization is named. */
export async function runMetrics(db: Db): Promise<RunMetrics> {
  const [statuses, queue] = await Promise.all([
    db.query<{ status: RunStatus; runs: number }>({
      name: 'count_live_runs',
      text: `select status, count(*) as runs
        from runs
        where status not in ('completed', 'failed', 'cancelled')
        group by status`,
    }),
    db.query<{ claimable: number; oldest_seconds: number }>({
      name: 'measure_queue',
      text: `select count(*) as claimable,
          coalesce(extract(epoch from now() - min(runnable_at)), 0)::float8 as oldest_seconds
        from runs
        where runnable_at <= now()`,
    }),
  ])
  return {
    by_status: Object.fromEntries(statuses.rows.map(row => [row.status, row.runs])),
    ...only(queue.rows),
  }
}
