import type { Db } from '../database.ts'
import { notifyWork } from '../notify.ts'
import { insertEvent } from './events.ts'
import { requeueRun } from './run-moves.ts'

/**
 * To be called in the transaction that has moved a run from `cancelling` to `cancelled`: when somebody has resumed it since the stop, it gets
 * its new turn in the same transaction, so that no crash loses the follow-up.
 */
export async function beginFollowUp(tx: Db, organization_id: number, id: number, queue_seconds: number): Promise<void> {
  const next = { from: ['cancelled' as const], new_turn: true, deadline_seconds: queue_seconds, only: 'resume_requested' as const }
  if (!(await requeueRun(tx, organization_id, id, next))) return
  await insertEvent(tx, organization_id, id, 'agent_run.status', { status: 'queued' })
  await notifyWork(tx)
}
