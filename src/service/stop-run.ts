import type { AgentRun } from '../contract/runs.ts'
import { isTerminal, sourcesOf } from '../core/run-status.ts'
import { lockLiveChildRuns } from '../store/child-runs.ts'
import type { Db } from '../store/database.ts'
import { insertEvent } from '../store/events.ts'
import { notifyOwner, notifyRun } from '../store/notify.ts'
import { moveRun, recordStop } from '../store/run-moves.ts'
import type { RunRow } from '../store/runs.ts'
import type { Context } from './context.ts'
import { getRun, requireLockedRun } from './runs.ts'

/**
 * Asks a run to stop. A run that nobody works on is cancelled at once; a working one is `cancelling` until its worker has let go,
 * or until the sweep finds that the worker is dead. On a run that is stopping or has ended: unchanged (decisions §2).
 */
export async function stopRun(ctx: Context, run_id: number): Promise<AgentRun> {
  return ctx.db.transaction(async tx => {
    await stopLockedRun(tx, ctx, await requireLockedRun(tx, ctx.organization_id, run_id))
    return getRun(ctx, run_id, tx)
  })
}

/** The stop itself, for whoever holds the lock of the run: of the run, and of all that its agent has started. */
export async function stopLockedRun(tx: Db, ctx: Context, run: RunRow): Promise<void> {
  if (run.status === 'cancelling' || isTerminal(run.status)) return
  // All locks of runs before the first event, which takes that of the organization. None can be added below a run that we hold.
  const runs = [run]
  for (let above = [run]; above.length > 0; runs.push(...above)) {
    const ids = above.map(({ id }) => id)
    above = await lockLiveChildRuns(tx, ctx.organization_id, ids)
  }
  for (const each of runs) await stopOne(tx, ctx, each)
}

async function stopOne(tx: Db, ctx: Context, run: RunRow): Promise<void> {
  if (run.status === 'cancelling') return
  // One that lost its worker has something open that the sweep closes first.
  const leased = run.status === 'starting' || run.status === 'running' || run.recovering_since !== null
  await recordStop(tx, ctx.organization_id, run.id, ctx.actor.user_id)
  await moveRun(tx, ctx.organization_id, run.id, null, { from: sourcesOf('cancelling'), to: 'cancelling' })
  await insertEvent(tx, ctx.organization_id, run.id, 'agent_run.status', { status: 'cancelling', user_id: ctx.actor.user_id })
  if (!leased) {
    await moveRun(tx, ctx.organization_id, run.id, null, { from: ['cancelling'], to: 'cancelled' })
    await insertEvent(tx, ctx.organization_id, run.id, 'agent_run.status', { status: 'cancelled' })
  } else await notifyOwner(tx, ctx.organization_id, run.id)
  await notifyRun(tx, ctx.organization_id, run.id)
}
