import type { AgentRun } from '../../contract/runs/runs.ts'
import { isRecorded } from '../../core/runs/recorded-run.ts'
import { isTerminal, sourcesOf } from '../../core/runs/run-transitions.ts'
import type { Db } from '../../store/database.ts'
import { CONTROL } from '../../store/notify.ts'
import { changeRun, reportRun } from '../../store/runs/change-run.ts'
import { lockRunsAndLiveBelow } from '../../store/runs/child-runs.ts'
import { requestResume } from '../../store/runs/follow-ups.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { Context } from '../context.ts'
import { getRun, runNotFound } from './runs.ts'

/**
 * Stops a run. A run without a worker is cancelled at once; another one is `cancelling` until its worker has
 * released it, or until the sweep detects that the worker is dead. A run that has ended stays unchanged; a
 * second stop of a stopping run withdraws a follow-up that waits for its end, which stays in the trace
 * (specification.md#run-status).
 */
export async function stopRun(ctx: Context, run_id: number): Promise<AgentRun> {
  return ctx.db.transaction(async tx => {
    const runs = await lockLines(tx, ctx, [run_id])
    if (runs.length === 0) throw runNotFound()
    await stopLockedRuns(tx, ctx, runs)
    return getRun(ctx, run_id, tx)
  })
}

/**
 * Locks runs with all that a stop of them ends. No run is added once all are locked, so it repeats until
 * there is nothing new. Locks in the order of ids, and before the first event, which locks the organization,
 * to prevent deadlocks.
 */
export async function lockLines(tx: Db, { organization_id }: Context, run_ids: number[]): Promise<RunRow[]> {
  for (let locked = ''; ; ) {
    const runs = await lockRunsAndLiveBelow(tx, organization_id, run_ids)
    const now = runs.map(({ id }) => id).join()
    if (now === locked) return runs
    locked = now
  }
}

/** Stops runs that the caller has locked together with all that their agents have started. */
export async function stopLockedRuns(tx: Db, ctx: Context, runs: RunRow[]): Promise<void> {
  for (const run of runs) if (!isTerminal(run.status)) await stopOne(tx, ctx, run)
}

async function stopOne(tx: Db, ctx: Context, run: RunRow): Promise<void> {
  if (run.status === 'cancelling') return withdrawFollowUp(tx, ctx, run)
  // A run that lost its worker may have an open step, which the sweep closes first.
  const leased =
    !isRecorded(run) &&
    (run.status === 'starting' || run.status === 'running' || run.recovering_since !== null)
  const { user_id } = ctx.actor
  const event = { type: 'agent_run.status', body: { status: 'cancelling', user_id } } as const
  const live = leased ? CONTROL : undefined
  await changeRun(tx, run, { from: sourcesOf('cancelling'), to: 'cancelling', user_id, event, live })
  if (leased) return
  const cancelled = { type: 'agent_run.status', body: { status: 'cancelled' } } as const
  await changeRun(tx, run, { from: ['cancelling'], to: 'cancelled', event: cancelled })
}

async function withdrawFollowUp(tx: Db, ctx: Context, run: RunRow): Promise<void> {
  if (!(await requestResume(tx, ctx.organization_id, run.id, false))) return
  const body = { follow_up_withdrawn: true, user_id: ctx.actor.user_id }
  await reportRun(tx, run, { event: { type: 'agent_run.updated', body } })
}
