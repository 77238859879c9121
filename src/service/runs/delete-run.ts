import { isTerminal } from '../../core/runs/run-transitions.ts'
import { ServiceError } from '../../core/service-error.ts'
import { notifyRun } from '../../store/notify.ts'
import { deleteEndedRuns, deleteFirstEntries, LONG_TRACE } from '../../store/runs/retention.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { requireLockedRun } from './runs.ts'

/**
 * Removes a run that has ended, with all that belongs to it, permanently. Throws 409 while it has not ended.
 */
export async function deleteRun(ctx: Context, run_id: number): Promise<{ id: number; deleted: true }> {
  return ctx.db.transaction(async tx => {
    const run = await requireLockedRun(tx, ctx.organization_id, run_id, 'update')
    if (!isTerminal(run.status))
      throw new ServiceError(
        'invalid_transition',
        `The run is ${run.status}; it can be deleted after it has ended. Stop it first.`,
      )
    if (run.total_logs > LONG_TRACE)
      while ((await deleteFirstEntries(tx, ctx.organization_id, run_id, LONG_TRACE)) > 0);
    await deleteEndedRuns(tx, ctx.organization_id, [run_id], ctx.actor.user_id)
    await audit(
      tx,
      ctx,
      'run.deleted',
      { type: 'run', id: run_id },
      { title: run.title, user_id: run.user_id, status: run.status },
    )
    await notifyRun(tx, ctx.organization_id, run_id)
    return { id: run_id, deleted: true as const }
  })
}
