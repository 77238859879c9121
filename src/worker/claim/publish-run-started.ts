import { CLAIMED } from '../../store/notify.ts'
import { changeRun } from '../../store/runs/change-run.ts'
import { lockRun, type RunRow } from '../../store/runs/runs.ts'
import type { WorkerServices } from '../services.ts'

/**
 * Publishes that a claimed run starts or continues, before any other event of it, unless another worker has
 * it by now. A transaction of its own: a claim that locked the organization's row would block all other
 * claims of the organization. Viewers announce themselves to this worker.
 */
export async function publishRunStarted(
  { db }: Pick<WorkerServices, 'db'>,
  { organization_id, id, epoch, status }: RunRow,
): Promise<void> {
  await db.transaction(async tx => {
    const now = await lockRun(tx, organization_id, id)
    if (now?.epoch !== epoch || now.status !== status) return
    await changeRun(tx, now, { event: { type: 'agent_run.status', body: { status } }, live: CLAIMED })
  })
}
