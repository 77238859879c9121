import type { RunStatus } from '../../contract/runs/runs.ts'
import { errorText } from '../../core/log.ts'
import { afterLoss } from '../../core/runs/after-lost-worker.ts'
import type { SandboxDriver } from '../../sandbox/port.ts'
import { removeWorkspace } from '../../sandbox/workspaces/workspaces.ts'
import { deleteExpiredTokens } from '../../store/access/accounts.ts'
import { deleteOldKeys } from '../../store/access/idempotency-keys.ts'
import { deleteOldInvitations } from '../../store/access/invitations.ts'
import { deleteIdleWindows } from '../../store/access/rate-windows.ts'
import { type LostRun, listOverdue, requeueExpired, type Sweep, type Sweeper, takeExpired } from '../../store/leases/leases.ts'
import { deleteSilentWorkers } from '../../store/leases/workers.ts'
import { notifyRun, notifyWork } from '../../store/notify.ts'
import { wakeChecked } from '../../store/pull-requests/check-waits.ts'
import { append } from '../../store/runs/append.ts'
import { forgetLeftoverWorkspace, listLeftoverWorkspaces } from '../../store/runs/deletions.ts'
import { insertEvent } from '../../store/runs/events.ts'
import { beginFollowUp } from '../../store/runs/follow-ups.ts'
import { listAbandoned } from '../../store/runs/recorded-sessions.ts'
import { type Move, moveRun } from '../../store/runs/run-moves.ts'
import { tryAcquireTick } from '../../store/runs/ticks.ts'
import { loseSandboxes } from '../../store/workspaces/sandboxes.ts'
import { errorEntry } from '../../trace/entry.ts'
import { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import { closeTurn } from '../turns/end-turn.ts'

export const SWEEP_MS = 1_000
/** A little less, so that one process alone sweeps each time. */
const TURN_SECONDS = 0.9
const BATCH = 50
const LEFT_TO_WORKERS_SECONDS = 2
/** The longest that the configuration takes. */
const LONGEST_WINDOW_SECONDS = 999_999
const SILENT_WORKER_SECONDS = 3_600

/**
 * What the sweep of runs needs. Any process may do it; one that works on none has no sandboxes to end (`driver` null), and leaves it for a
 * moment to those that do.
 */
export type SweepDeps = Pick<WorkerDeps, 'db' | 'max_losses' | 'queue_seconds' | 'log' | 'telemetry'> &
  Sweeper & { driver: Pick<SandboxDriver, 'end'> | null }

/**
 * What every process does once a second, and one of them does then: a sweep reads every run at work, so a hundred that sweep would cost the
 * database more than the runs. Those with sandboxes and those without take turns among themselves.
 */
export async function sweepInTurn(deps: SweepDeps): Promise<void> {
  const name = deps.driver === null ? 'sweep of those that serve' : 'sweep of those that work'
  if (await tryAcquireTick(deps.db, name, TURN_SECONDS)) await sweepRuns(deps)
}

/**
 * Gives runs whose owner is gone to the next worker, and ends what nobody goes on with: runs that were stopping, that have lost too many
 * owners, or whose time is over while nobody works on them.
 */
export async function sweepRuns(deps: SweepDeps): Promise<void> {
  const { max_losses, folder_id, owner } = deps
  const sweep = { max_losses, late_seconds: deps.driver === null ? LEFT_TO_WORKERS_SECONDS : 0, limit: BATCH, folder_id, owner }
  const orphans = await requeueOrphans(deps, sweep)
  await wakeWaiting(deps)
  const expired = await takeExpired(deps.db, sweep)
  if (orphans.length + expired.length > 0) deps.telemetry.leasesExpired(orphans.length + expired.length)
  // Read before anything is begun: a promise that fails while another is still awaited would be handled by nobody.
  const late = await listOverdue(deps.db, BATCH)
  const silent = await listAbandoned(deps.db, BATCH)
  const ended = await Promise.allSettled([
    ...orphans.map(run => endSandbox(deps, run)),
    ...expired.map(run => endLost(deps, run)),
    ...late.map(run => end(deps, run, overdue(run))),
    ...silent.map(run => end(deps, run, abandoned)),
  ])
  await loseSandboxes(deps.db)
  const failed = ended.find(result => result.status === 'rejected')
  if (failed) throw failed.reason
}

async function requeueOrphans(deps: SweepDeps, sweep: Sweep): Promise<LostRun[]> {
  return deps.db.transaction(async tx => {
    const orphans = await requeueExpired(tx, sweep)
    for (const { organization_id, id } of orphans) {
      await insertEvent(tx, organization_id, id, 'agent_run.status', { status: 'queued' })
      await notifyRun(tx, organization_id, id)
      deps.log('info', 'a worker is gone: another one continues its run', { run_id: id })
    }
    if (orphans.length > 0) await notifyWork(tx)
    return orphans
  })
}

/** Runs that wait for checks: whoever told of the last one need not have lived to wake them. */
async function wakeWaiting(deps: SweepDeps): Promise<void> {
  const woken = await wakeChecked(deps.db, deps.queue_seconds, BATCH)
  for (const { organization_id, id } of woken) await notifyRun(deps.db, organization_id, id)
  if (woken.length > 0) await notifyWork(deps.db)
}

/** A frozen owner cannot end its sandbox; on its machine we can, at once. */
async function endSandbox(deps: SweepDeps, { sandbox }: LostRun): Promise<void> {
  if (sandbox !== null) await deps.driver?.end(sandbox)
}

/** The dead owner's epoch is ours now: what it had begun is closed first, so that the trace tells what was going on. */
async function endLost(deps: SweepDeps, run: LostRun): Promise<void> {
  const writer = new RunWriter(deps.db, run)
  let tool_name: string | null = null
  const close = async () => {
    tool_name = await closeTurn(writer, run)
  }
  // Neither a sandbox that does not go nor a broken journal may keep a run from its end.
  for (const tidy of [() => endSandbox(deps, run), close])
    await tidy().catch(error =>
      deps.log('error', 'what a dead worker left could not be tidied up', { run_id: run.id, error: errorText(error) }),
    )
  writer.close()
  await end(deps, run, endOf(run, deps.max_losses), tool_name)
}

function endOf(run: LostRun, max_losses: number): Move {
  const end = afterLoss(run, max_losses)
  if (end === 'cancelled') return { from: ['cancelling'], to: 'cancelled' }
  if (end === 'paused') return { from: [run.status], to: 'paused', status_reason: 'user_request', only: 'pausing' }
  return end === 'timeout' ? overdue(run) : lost(run)
}

const lost = (run: LostRun): Move => ({
  from: [run.status],
  to: 'failed',
  status_reason: 'lost',
  error: {
    code: 'lost',
    message: 'Too many workers died while they had this run. Its files and its conversation are kept: resume the run to go on.',
  },
})
const overdue = (run: LostRun): Move => ({
  from: [run.status],
  only: 'overdue',
  to: 'failed',
  status_reason: 'timeout',
  error: deadlines[run.status] ?? { code: 'deadline_exceeded', message: 'The run reached its deadline.' },
})
const abandoned: Move = {
  from: ['running'],
  only: 'overdue',
  to: 'failed',
  status_reason: 'timeout',
  error: { code: 'session_silent', message: 'The recorded session reported nothing for an hour. Its next report continues the recording.' },
}
const deadlines: Partial<Record<RunStatus, { code: string; message: string }>> = {
  queued: { code: 'queue_timeout', message: 'No worker took the run before its deadline.' },
  waiting: { code: 'answer_timeout', message: 'Nobody answered before the deadline.' },
}

/** Nothing is written when the run has moved meanwhile: another process sweeps too, and people act. */
async function end(deps: SweepDeps, run: LostRun, move: Move, tool_name: string | null = null): Promise<void> {
  const ended = deps.db.transaction(async tx => {
    if (move.error) {
      const entries = [errorEntry({ ...move.error, retryable: true, phase: run.status }, tool_name)]
      await append(tx, run.organization_id, run.id, null, { entries })
    }
    if (!(await moveRun(tx, run.organization_id, run.id, null, move))) throw new MovedMeanwhile()
    await insertEvent(tx, run.organization_id, run.id, 'agent_run.status', { status: move.to, status_reason: move.status_reason ?? null })
    if (move.to === 'cancelled') await beginFollowUp(tx, run.organization_id, run.id, deps.queue_seconds)
    await notifyRun(tx, run.organization_id, run.id)
  })
  await ended.catch(error => {
    if (!(error instanceof MovedMeanwhile)) throw error
  })
}

class MovedMeanwhile extends Error {}

/** Removes what is not needed any more: workspaces of deleted runs, tokens of closed pages, kept answers, idle windows. */
export async function sweepLeftovers(deps: Pick<WorkerDeps, 'db' | 'folder_id' | 'users'>): Promise<void> {
  await deleteExpiredTokens(deps.db)
  await deleteOldInvitations(deps.db)
  await deleteOldKeys(deps.db)
  await deleteIdleWindows(deps.db, LONGEST_WINDOW_SECONDS)
  await deleteSilentWorkers(deps.db, SILENT_WORKER_SECONDS)
  for (const left of await listLeftoverWorkspaces(deps.db, deps.folder_id)) {
    await removeWorkspace(left.workspace, deps.users.sandbox)
    await forgetLeftoverWorkspace(deps.db, left.organization_id, left.run_id)
  }
}
