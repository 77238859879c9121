import type { AgentRun } from '../../contract/runs/runs.ts'
import { isTerminal } from '../../core/runs/run-transitions.ts'
import { ServiceError } from '../../core/service-error.ts'
import type { Db } from '../../store/database.ts'
import { CONTROL } from '../../store/notify.ts'
import { changeRun, reportRun } from '../../store/runs/change-run.ts'
import { requestPause } from '../../store/runs/pauses.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { Context } from '../context.ts'
import { getRun, requireConversation, requireLockedRun } from './runs.ts'

/**
 * Pauses a run until it is resumed in the same turn. A run without a worker is paused at once, another one
 * when its worker has released it or when the sweep takes it from a dead worker. A paused run stays
 * unchanged. Throws 409 for a run that is stopping or has ended (specification.md#run-status).
 */
export async function pauseRun(ctx: Context, run_id: number): Promise<AgentRun> {
  return ctx.db.transaction(async tx => {
    const run = await requireLockedRun(tx, ctx.organization_id, run_id)
    requireConversation(run)
    if (isTerminal(run.status))
      throw new ServiceError(
        'invalid_transition',
        `The run has ended as ${run.status}; there is nothing to pause.`,
      )
    if (run.status === 'cancelling') throw new ServiceError('invalid_transition', 'The run is being stopped.')
    if (run.status !== 'paused') await pause(tx, ctx, run)
    return getRun(ctx, run_id, tx)
  })
}

async function pause(tx: Db, ctx: Context, run: RunRow): Promise<void> {
  const user_id = ctx.actor.user_id
  if (run.status === 'starting' || run.status === 'running') {
    if (!(await requestPause(tx, ctx.organization_id, run.id, user_id))) return
    await reportRun(tx, run, {
      event: { type: 'agent_run.updated', body: { pause_requested: true, user_id } },
      live: CONTROL,
    })
  } else {
    const because = 'user_request'
    const body = { status: 'paused', status_reason: because, user_id }
    const event = { type: 'agent_run.status', body } as const
    await changeRun(tx, run, { from: ['queued', 'waiting'], to: 'paused', because, user_id, event })
  }
}
