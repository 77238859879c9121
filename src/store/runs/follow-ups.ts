import type { Db } from '../database.ts'
import { notifyWork } from '../notify.ts'
import { insertEvent } from './events.ts'
import { requeueRun } from './run-moves.ts'

/**
 * Starts the new turn of a run that was resumed after a stop. Call it in the transaction that moves the run from `cancelling` to `cancelled`, so
 * that no crash loses the follow-up.
 */
export async function beginFollowUp(tx: Db, organization_id: number, id: number, queue_seconds: number): Promise<void> {
  const next = { from: ['cancelled' as const], new_turn: true, deadline_seconds: queue_seconds, only: 'resume_requested' as const }
  if (!(await requeueRun(tx, organization_id, id, next))) return
  await insertEvent(tx, organization_id, id, 'agent_run.status', { status: 'queued' })
  await notifyWork(tx)
}
