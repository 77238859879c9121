import { errorText } from '../../core/log.ts'
import { afterLoss } from '../../core/runs/after-lost-worker.ts'
import type { SandboxDriver } from '../../sandbox/port.ts'
import {
  type LostRun,
  listAbandoned,
  listOverdue,
  lockExpired,
  type Sweeper,
  takeOver,
} from '../../store/leases/leases.ts'
import { notifyAll, runNotification, workNotification } from '../../store/notify.ts'
import { wakeChecked } from '../../store/pull-requests/check-waits.ts'
import { type Change, changeRun } from '../../store/runs/change-run.ts'
import { beginFollowUp } from '../../store/runs/follow-ups.ts'
import { tryAcquireTick } from '../../store/runs/ticks.ts'
import { loseSandboxes } from '../../store/workspaces/sandboxes.ts'
import { errorEntry } from '../../trace/entry.ts'
import { RunWriter } from '../claim/run-writer.ts'
import { deadlineError } from '../deadline.ts'
import type { WorkerServices } from '../services.ts'
import { closeTurn } from '../turns/write-outcome.ts'

export const SWEEP_MS = 1_000
const continued_alone = {
  code: 'worker_stalled',
  message:
    'The service stopped responding while it worked on this run. The run is continued once, without other runs beside it.',
  retryable: true,
}
const ACTIVE = ['starting', 'running'] as const
/** A little less than the interval, so that one process sweeps each time. */
const TURN_SECONDS = 0.9
const BATCH = 50
const LEFT_TO_WORKERS_SECONDS = 2

/**
 * What the sweep of runs needs. Every process may sweep. One without a worker has no sandboxes to end
 * (`driver` null), and waits a moment for processes that have.
 */
type Deps = Sweeper &
  Pick<WorkerServices, 'db' | 'log' | 'telemetry' | 'max_losses' | 'queue_seconds'> & {
    driver: Pick<SandboxDriver, 'end'> | null
  }

/**
 * Sweeps if it is the turn of this process. Every process calls this once a second, and one of them sweeps: a
 * sweep reads every active run, so a hundred sweeps would cost the database more than the runs. Processes
 * with and without a worker take turns separately.
 */
export async function sweepInTurn(deps: Deps): Promise<void> {
  const name = deps.driver === null ? 'sweep of those that serve' : 'sweep of those that work'
  if (await tryAcquireTick(deps.db, name, TURN_SECONDS)) await sweepRuns(deps)
}

/**
 * Requeues runs whose worker is lost, and ends runs that no worker continues: those that were stopping, that
 * have lost too many workers, or that reached a deadline without a worker.
 */
export async function sweepRuns(deps: Deps): Promise<void> {
  const { requeued, taken } = await recoverExpired(deps)
  await wakeWaiting(deps)
  if (requeued.length + taken.length > 0) deps.telemetry.leasesExpired(requeued.length + taken.length)
  // Read before any end starts: the rejection of a promise that is not awaited yet would be unhandled.
  const late = await listOverdue(deps.db, BATCH)
  const silent = await listAbandoned(deps.db, BATCH)
  const ended = await Promise.allSettled([
    ...requeued.map(run => endSandbox(deps, run)),
    ...taken.map(run => endLost(deps, run)),
    ...late.map(run => end(deps, run, overdue(run))),
    ...silent.map(run => end(deps, run, abandoned)),
  ])
  await loseSandboxes(deps.db)
  const failed = ended.find(result => result.status === 'rejected')
  if (failed) throw failed.reason
}

/**
 * Requeues runs of lost workers for the next one, and takes over those that no worker may continue, to end
 * them.
 */
async function recoverExpired(deps: Deps): Promise<{ requeued: LostRun[]; taken: LostRun[] }> {
  const { folder_id, owner, max_losses } = deps
  const sweep = {
    late_seconds: deps.driver === null ? LEFT_TO_WORKERS_SECONDS : 0,
    limit: BATCH,
    folder_id,
    owner,
  }
  return deps.db.transaction(async tx => {
    const expired = await lockExpired(tx, sweep)
    const requeued = expired.filter(run => afterLoss(run, max_losses) === 'queued')
    const others = expired.filter(run => !requeued.includes(run))
    const taken = others.length > 0 ? await takeOver(tx, others) : []
    for (const run of requeued) {
      const entries = run.stalled ? [errorEntry({ ...continued_alone, phase: 'queued' })] : []
      await changeRun(tx, run, { from: ACTIVE, to: 'queued', because: 'worker_lost', entries })
      deps.log('info', 'a worker is lost: another one continues its run', {
        run_id: run.id,
        stalled: run.stalled,
      })
    }
    return { requeued, taken }
  })
}

/**
 * Requeues runs whose checks have ended: the process that recorded the last one may have died before it did.
 */
async function wakeWaiting(deps: Deps): Promise<void> {
  const woken = await wakeChecked(deps.db, deps.queue_seconds, BATCH)
  if (woken.length > 0)
    await notifyAll(deps.db, [
      workNotification,
      ...woken.map(run => runNotification(run.organization_id, run.id)),
    ])
}

/** A frozen worker cannot end its sandbox; another process on its machine can. */
async function endSandbox(deps: Deps, { sandbox }: LostRun): Promise<void> {
  if (sandbox !== null) await deps.driver?.end(sandbox)
}

/**
 * This process has taken over the epoch: open calls are closed first, so that the trace shows what was in
 * progress.
 */
async function endLost(deps: Deps, run: LostRun): Promise<void> {
  const writer = new RunWriter(deps.db, run)
  let tool_name: string | null = null
  const close = async () => {
    tool_name = await closeTurn(writer, run)
  }
  // Neither a sandbox that does not end nor a damaged journal may prevent the end of the run.
  for (const tidy of [() => endSandbox(deps, run), close])
    await tidy().catch(error =>
      deps.log('error', 'a run of a dead worker could not be cleaned up', {
        run_id: run.id,
        error: errorText(error),
      }),
    )
  writer.close()
  await end(deps, run, moveAfterLoss(run, deps.max_losses), tool_name)
}

/** A move that ends a run, or pauses it. */
type EndMove = Extract<Change, { from: unknown; to: 'paused' | 'failed' | 'cancelled' }>

function moveAfterLoss(run: LostRun, max_losses: number): EndMove {
  const end = afterLoss(run, max_losses)
  if (end === 'cancelled') return { from: ['cancelling'], to: 'cancelled' }
  if (end === 'paused') return { from: [run.status], to: 'paused', because: 'user_request', only: 'pausing' }
  if (end === 'timeout') return overdue(run)
  const error = end === 'stalled' ? stalled_again : lost
  return { from: [run.status], to: 'failed', because: error.code, error }
}

const lost = {
  code: 'lost',
  message:
    'Too many workers died while they had this run. Its files and its conversation are kept: resume the run to continue.',
} as const
const stalled_again = {
  code: 'worker_stalled',
  message:
    'The service stopped responding, or ran out of memory, twice while it worked on this run, the second time without other runs beside it. Its files and its conversation are kept: resume the run with other instructions.',
} as const
const overdue = (run: LostRun): EndMove => ({
  from: [run.status],
  only: 'overdue',
  to: 'failed',
  because: 'timeout',
  error: deadlineError(run.status),
})
const abandoned: EndMove = {
  from: ['running'],
  only: 'overdue',
  to: 'failed',
  because: 'timeout',
  error: {
    code: 'session_silent',
    message: 'The recorded session reported nothing for an hour. Its next report continues the recording.',
  },
}

/** Writes nothing if the run has moved meanwhile, by another sweep or a request. */
async function end(deps: Deps, run: LostRun, move: EndMove, tool_name: string | null = null): Promise<void> {
  const error = move.to === 'failed' ? move.error : undefined
  const entries = error ? [errorEntry({ ...error, retryable: true, phase: run.status }, tool_name)] : []
  await deps.db.transaction(async tx => {
    const ended = await changeRun(tx, run, { ...move, entries })
    if (ended && move.to === 'cancelled') await beginFollowUp(tx, run, deps.queue_seconds)
  })
}
