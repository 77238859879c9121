import type { Db } from '../database.ts'

/** The report of a worker about itself. */
type WorkerReport = {
  owner: string
  host: string
  /** Identifies the data folder. */
  folder_id: string
  pid: number
  version: string
  /** The sandbox driver. */
  sandbox: string
  /** What enforces the limits of sandboxes, as JSON; null when it starts none. */
  sandbox_limits: string | null
  concurrency: number
  active: number
  /** Why it starts no runs; null when it does. */
  blocked_reason: string | null
}
type WorkerRow = Omit<WorkerReport, 'folder_id'> & { started_at: Date; seen_at: Date }

/** Inserts or updates the row of this process's worker. `seen_at` shows other processes that it is alive. */
export async function reportWorker(db: Db, worker: WorkerReport): Promise<void> {
  await db.query({
    name: 'report_worker',
    text: `insert into workers (
        owner, host, folder_id, pid, version, sandbox, sandbox_limits, concurrency, active, blocked_reason
      )
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (owner)
        do update set active = excluded.active, blocked_reason = excluded.blocked_reason,
          sandbox_limits = excluded.sandbox_limits, seen_at = now()`,
    values: [
      worker.owner,
      worker.host,
      worker.folder_id,
      worker.pid,
      worker.version,
      worker.sandbox,
      worker.sandbox_limits,
      worker.concurrency,
      worker.active,
      worker.blocked_reason,
    ],
  })
}

export async function forgetWorker(db: Db, owner: string): Promise<void> {
  await db.query({ name: 'forget_worker', text: 'delete from workers where owner = $1', values: [owner] })
}

/** Returns workers that reported in the last `seconds`, the longest running first. */
export async function listWorkers(db: Db, seconds: number): Promise<WorkerRow[]> {
  const { rows } = await db.query<WorkerRow>({
    name: 'list_workers',
    text: `select *
      from workers
      where seen_at > now() - make_interval(secs => $1)
      order by started_at, owner`,
    values: [seconds],
  })
  return rows
}

/** Deletes the rows of workers that have not reported for `seconds`: they died without deleting them. */
export async function deleteSilentWorkers(db: Db, seconds: number): Promise<void> {
  await db.query({
    name: 'delete_silent_workers',
    text: 'delete from workers where seen_at < now() - make_interval(secs => $1)',
    values: [seconds],
  })
}
