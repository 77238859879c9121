import type { Db } from '../store/database.ts'
import { listWorkers } from '../store/workers.ts'

/** A worker that was not heard of for this long is not counted on. It reports every three seconds. */
const SILENCE_SECONDS = 15

/**
 * Whether any worker on this database takes runs: `blocked` is null when one does, otherwise one line that says why none does. `sandbox`: what
 * runs are isolated with; null while none is started.
 */
export async function workerState(db: Db): Promise<{ sandbox: string | null; blocked: string | null }> {
  const workers = (await listWorkers(db, SILENCE_SECONDS)).filter(worker => worker.concurrency > 0)
  const able = workers.find(worker => worker.blocked_reason === null)
  if (able) return { sandbox: able.sandbox, blocked: null }
  return { sandbox: null, blocked: workers[0]?.blocked_reason ?? 'no worker is running' }
}
