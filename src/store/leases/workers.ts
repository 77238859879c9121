import { allRows, type Db } from '../database.ts'
import { insertRow, replacing } from '../statement.ts'

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
type WorkerRow = WorkerReport & { started_at: Date; seen_at: Date }

/** Inserts or updates the row of this process's worker. `seen_at` shows other processes that it is alive. */
export async function reportWorker(db: Db, worker: WorkerReport): Promise<void> {
  await db.query(
    insertRow(
      'workers',
      {
        owner: worker.owner,
        host: worker.host,
        folder_id: worker.folder_id,
        pid: worker.pid,
        version: worker.version,
        sandbox: worker.sandbox,
        sandbox_limits: worker.sandbox_limits,
        concurrency: worker.concurrency,
        active: worker.active,
        blocked_reason: worker.blocked_reason,
      },
      {
        end: `on conflict (owner)
        do update set ${replacing('active', 'blocked_reason', 'sandbox_limits')}, seen_at = now()`,
      },
    ),
  )
}

export async function forgetWorker(db: Db, owner: string): Promise<void> {
  await db.query({ name: 'forget_worker', text: 'delete from workers where owner = $1', values: [owner] })
}

/** Returns workers that reported in the last `seconds`, the longest running first. */
export function listWorkers(db: Db, seconds: number): Promise<WorkerRow[]> {
  return allRows<WorkerRow>(db, {
    name: 'list_workers',
    text: `select *
      from workers
      where seen_at > now() - make_interval(secs => $1)
      order by started_at, owner`,
    values: [seconds],
  })
}

/** Deletes the rows of workers that have not reported for `seconds`: they died without deleting them. */
export async function deleteSilentWorkers(db: Db, seconds: number): Promise<void> {
  await db.query({
    name: 'delete_silent_workers',
    text: 'delete from workers where seen_at < now() - make_interval(secs => $1)',
    values: [seconds],
  })
}
