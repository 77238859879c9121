import type { ServiceProcess } from '../../core/cluster/cluster-checks.ts'
import { allRows, type Db, only } from '../database.ts'
import { insertSql, replacing, statement } from '../statement.ts'

type ProcessReport = Omit<ServiceProcess, 'seen_seconds'> & { id: string }

/** The time for which a killed process is shown. */
const KEPT_SECONDS = 600

/** Inserts or updates the row of this process, and deletes those that have been silent for ten minutes. */
export async function reportProcess(db: Db, report: ProcessReport): Promise<void> {
  await db.query(
    statement(
      'report_process',
      bind => `with silent as (
          delete from processes
          where seen_at < now() - make_interval(secs => ${KEPT_SECONDS}) and id <> ${bind(report.id)}
        )
        ${insertSql(
          bind,
          'processes',
          {
            id: report.id,
            role: report.role,
            host: report.host,
            pid: report.pid,
            version: report.version,
            newest_migration: report.newest_migration,
            folder_id: report.folder_id,
            key_id: report.key_id,
            base_url: report.base_url,
            clock_ahead_ms: report.clock_ahead_ms,
          },
          { end: `on conflict (id) do update set ${replacing('clock_ahead_ms')}, seen_at = now()` },
        )}`,
    ),
  )
}

/**
 * Returns how far the clock `now` is ahead of the database's, in ms, at least: 0 while the time of the
 * statement can explain the difference.
 */
export async function clockAhead(db: Db, now: () => number): Promise<number> {
  const sent_at = now()
  const { rows } = await db.query<{ ms: number }>({
    name: 'database_clock',
    text: 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms',
  })
  const there = only(rows).ms
  return Math.max(0, sent_at - there) + Math.min(0, now() - there)
}

export async function forgetProcess(db: Db, id: string): Promise<void> {
  await db.query({ name: 'forget_process', text: 'delete from processes where id = $1', values: [id] })
}

/** Returns the processes that reported in the last ten minutes, by role. */
export function listProcesses(db: Db): Promise<ServiceProcess[]> {
  return allRows<ServiceProcess>(db, {
    name: 'list_processes',
    text: `select role, host, pid, version, newest_migration, folder_id, key_id, base_url, clock_ahead_ms,
        extract(epoch from now() - seen_at)::int as seen_seconds
      from processes
      where seen_at >= now() - make_interval(secs => ${KEPT_SECONDS})
      order by role, host, pid`,
  })
}
