import { notifyRun } from '../../store/notify.ts'
import { insertEvent } from '../../store/runs/events.ts'
import { lockRun, type RunRow } from '../../store/runs/runs.ts'
import type { WorkerDeps } from '../settings.ts'

/**
 * Tells that a claimed run starts, or runs again: before anything else is told of it, and not once somebody else has it. In a transaction of its
 * own, because a claim that held the organization's row would let no other claim of it through.
 */
export async function publishRunStarted({ db }: Pick<WorkerDeps, 'db'>, { organization_id, id, epoch, status }: RunRow): Promise<void> {
  await db.transaction(async tx => {
    const now = await lockRun(tx, organization_id, id)
    if (now?.epoch !== epoch || now.status !== status) return
    await insertEvent(tx, organization_id, id, 'agent_run.status', { status })
    await notifyRun(tx, organization_id, id)
  })
}
