import type { AgentRun } from '../../../../src/contract/runs/runs.ts'

const with_worker = new Set<AgentRun['status']>(['starting', 'running', 'cancelling'])

export const hasWorker = ({ status }: AgentRun): boolean => with_worker.has(status)

/**
 * A clock for the active time of one run, in milliseconds; null: no worker has claimed it. The service
 * reports the time as of the last heartbeat: while a worker has the run, the clock continues from it and
 * never goes back.
 */
export function activeClock(): (run: AgentRun, now: number) => number | null {
  let ahead_of_now = Number.NEGATIVE_INFINITY
  return (run, now) => {
    const active = run.usage.active_seconds * 1000
    ahead_of_now = hasWorker(run) ? Math.max(ahead_of_now, active - now) : Number.NEGATIVE_INFINITY
    if (hasWorker(run)) return now + ahead_of_now
    return active > 0 ? active : null
  }
}

export const tokens = ({ usage }: AgentRun) => usage.input_tokens + usage.output_tokens

/** Whether the run has completed, and what it proposed fails checks. */
export const hasFailingChecks = ({ status, checks }: AgentRun): boolean =>
  status === 'completed' && checks?.state === 'failure'

/**
 * Whether the run has completed and is not a success: it did not do everything, or what it proposed fails
 * checks since.
 */
export const isIncomplete = (run: AgentRun): boolean =>
  (run.status === 'completed' && run.status_reason !== null) || hasFailingChecks(run)
