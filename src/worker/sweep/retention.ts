import { insertAuditEntry } from '../../store/access/audit.ts'
import { notifyRun } from '../../store/notify.ts'
import {
  deleteEndedRuns,
  deleteFirstEntries,
  deleteOldDeletions,
  type ExpiredRun,
  holdRetention,
  LONG_TRACE,
  listExpiredRuns,
  lockExpiredRuns,
} from '../../store/runs/retention.ts'
import type { WorkerDeps } from '../settings.ts'

const BATCH = 100
/** What one transaction removes at most, unless a single run has more: it holds the organization's row for milliseconds. */
const BATCH_ENTRIES = 5_000
/** Of one call: what is left is the next one's. */
const BATCHES = 50

/**
 * Removes runs that ended more than `retention_days` ago, in small batches, each with its row in the audit log. Of several workers one does
 * it at a time. Null: runs are kept for ever.
 */
export async function removeExpiredRuns(deps: Pick<WorkerDeps, 'db' | 'log' | 'retention_days'>): Promise<void> {
  const days = deps.retention_days
  if (days === null) return
  for (let round = 0; round < BATCHES; round++) {
    let removed = 0
    for (const batch of batches(await listExpiredRuns(deps.db, days, BATCH))) removed += await removeBatch(deps, batch, days)
    // Nothing is old any more, or somebody else is at it.
    if (removed === 0) break
  }
  await deleteOldDeletions(deps.db, days, BATCH_ENTRIES)
}

type Batch = { organization_id: number; runs: ExpiredRun[] }

/** Runs of one organization each, as many as a transaction takes. */
function batches(expired: ExpiredRun[]): Batch[] {
  const made: Batch[] = []
  for (const run of expired.toSorted((a, b) => a.organization_id - b.organization_id)) {
    const last = made.at(-1)
    const entries = last?.runs.reduce((sum, { entries }) => sum + entries, run.entries) ?? 0
    if (last?.organization_id === run.organization_id && entries <= BATCH_ENTRIES) last.runs.push(run)
    else made.push({ organization_id: run.organization_id, runs: [run] })
  }
  return made
}

async function removeBatch(deps: Pick<WorkerDeps, 'db' | 'log'>, { organization_id, runs }: Batch, days: number): Promise<number> {
  const gone = await deps.db.transaction(async tx => {
    if (!(await holdRetention(tx))) return []
    const locked = await lockExpiredRuns(
      tx,
      organization_id,
      runs.map(run => run.id),
      days,
    )
    const ids = locked.map(run => run.id)
    const [first] = ids
    if (first === undefined) return []
    for (const run of locked) if (run.entries > LONG_TRACE) while ((await deleteFirstEntries(tx, organization_id, run.id, LONG_TRACE)) > 0);
    await deleteEndedRuns(tx, organization_id, ids, null)
    await insertAuditEntry(tx, {
      organization_id,
      user_id: null,
      token_id: null,
      action: 'run.expired',
      target_type: 'run',
      target_id: null,
      detail: JSON.stringify({ retention_days: days, agent_run_ids: ids }),
      request_id: null,
    })
    // One word to the organization's readers is enough; who follows one of the runs finds out within seconds.
    await notifyRun(tx, organization_id, first)
    return ids
  })
  if (gone.length > 0) deps.log('info', 'old runs were removed', { organization_id, runs: gone.length, retention_days: days })
  return gone.length
}
