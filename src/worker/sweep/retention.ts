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
import type { WorkerServices } from '../services.ts'

const BATCH = 100
/**
 * Maximum number of entries that one transaction removes, unless a single run has more: it locks the
 * organization's row for milliseconds.
 */
const MAX_BATCH_ENTRIES = 5_000
/** Rounds of one call; the next call continues. */
const MAX_ROUNDS = 50

/**
 * Removes runs that ended more than `retention_days` ago, in small batches, each with its row in the audit
 * log. One worker at a time does it. Null: runs are kept for ever.
 */
export async function removeExpiredRuns(
  deps: Pick<WorkerServices, 'db' | 'log'> & { retention_days: number | null },
): Promise<void> {
  const days = deps.retention_days
  if (days === null) return
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let removed = 0
    for (const batch of batches(await listExpiredRuns(deps.db, days, BATCH)))
      removed += await removeBatch(deps, batch, days)
    // No run is old enough, or another worker removes them.
    if (removed === 0) break
  }
  await deleteOldDeletions(deps.db, days, MAX_BATCH_ENTRIES)
}

type Batch = { organization_id: number; runs: ExpiredRun[] }

/** Groups runs by organization, at most as many as one transaction takes. */
function batches(expired: ExpiredRun[]): Batch[] {
  const grouped: Batch[] = []
  for (const run of expired.toSorted((a, b) => a.organization_id - b.organization_id)) {
    const last = grouped.at(-1)
    const entries = last?.runs.reduce((sum, { entries }) => sum + entries, run.entries) ?? 0
    if (last?.organization_id === run.organization_id && entries <= MAX_BATCH_ENTRIES) last.runs.push(run)
    else grouped.push({ organization_id: run.organization_id, runs: [run] })
  }
  return grouped
}

async function removeBatch(
  deps: Pick<WorkerServices, 'db' | 'log'>,
  { organization_id, runs }: Batch,
  days: number,
): Promise<number> {
  const removed = await deps.db.transaction(async tx => {
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
    for (const run of locked)
      if (run.entries > LONG_TRACE)
        while ((await deleteFirstEntries(tx, organization_id, run.id, LONG_TRACE)) > 0);
    await deleteEndedRuns(tx, organization_id, ids, null)
    await insertAuditEntry(tx, {
      organization_id,
      user_id: null,
      token_id: null,
      action: 'run.expired',
      target_type: 'run',
      target_id: null,
      detail: { retention_days: days, agent_run_ids: ids },
      request_id: null,
    })
    // One notification for the readers of the organization is enough; viewers of a run learn of it within
    // seconds.
    await notifyRun(tx, organization_id, first)
    return ids
  })
  if (removed.length > 0)
    deps.log('info', 'old runs were removed', { organization_id, runs: removed.length, retention_days: days })
  return removed.length
}
