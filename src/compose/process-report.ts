import { hostname } from 'node:os'
import { type Polling, startPolling } from '../core/polling.ts'
import { clockAhead, forgetProcess, reportProcess } from '../store/leases/processes.ts'
import { listMigrations } from '../store/migrate.ts'
import type { Parts } from './parts.ts'

const REPORT_INTERVAL_MS = 10_000

/** Reports this process in the database until it ends, for doctor and health. */
export async function startProcessReports({
  owner,
  role,
  db,
  data,
  version,
  sealer,
  config,
  log,
}: Parts): Promise<AsyncDisposable> {
  const newest_migration = (await listMigrations()).at(-1)?.name ?? ''
  const itself = {
    id: owner,
    role,
    host: hostname(),
    pid: process.pid,
    version,
    newest_migration,
    folder_id: data.id,
    key_id: sealer.key_id,
  }
  const report = async () =>
    reportProcess(db, {
      ...itself,
      base_url: config.AGENTRUN_BASE_URL ?? null,
      clock_ahead_ms: await clockAhead(db, Date.now),
    })
  const polling: Polling = startPolling(
    REPORT_INTERVAL_MS,
    'the report of this process',
    report,
    log,
    'at once',
  )
  return {
    async [Symbol.asyncDispose]() {
      polling[Symbol.dispose]()
      // A row that stays is silent, and disappears.
      await forgetProcess(db, owner).catch(() => {})
    },
  }
}
