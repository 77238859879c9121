import type { RunPhase, RunStatus, WaitingOn, WaitingReason } from '../../contract/runs/runs.ts'

/** The current state of a run from its row and its journal. */
export type RunActivity = {
  status: RunStatus
  phase: RunPhase | null
  waiting_on: WaitingReason | null
  /** A worker may claim it. */
  claimable: boolean
  /** Its worker lost the lease, or another worker must continue it. */
  ownerless: boolean
  /** A pause was requested, and the worker has not released the run yet. */
  pausing: boolean
  /** The kind of the last record in its journal; null when there is none. */
  last_record: string | null
}

const ofPhase: Record<Exclude<RunPhase, 'agent'>, WaitingOn> = {
  clone: 'clone',
  checkout: 'clone',
  setup: 'setup',
  recover: 'recovery',
  evaluate: 'ci',
  push: 'push',
  pull_request: 'push',
}

/**
 * Each intent is written before its effect, so the last one shows the current activity. A response whose tool
 * has not started waits for the workspace.
 */
const ofRecord: Record<string, WaitingOn> = {
  model_started: 'model',
  model_failed: 'model_retry',
  model_answered: 'clone',
  tool_started: 'tool',
}

/**
 * Returns what a run waits for right now, derived and never stored, so that it cannot become stale
 * (specification.md#run-status). Null: nothing, because it is paused or has ended. A question that was
 * answered waits for a worker.
 */
export function waitingOn(run: RunActivity): WaitingOn | null {
  switch (run.status) {
    case 'queued':
      return run.ownerless ? 'worker' : 'slot'
    case 'waiting':
      return run.claimable ? 'slot' : run.waiting_on
    case 'cancelling':
      return 'worker'
    case 'starting':
    case 'running':
      if (run.ownerless || run.pausing || run.phase === null) return 'worker'
      if (run.phase === 'agent') return ofRecord[run.last_record ?? ''] ?? 'worker'
      return run.phase === 'evaluate' && run.last_record === 'model_started' ? 'model' : ofPhase[run.phase]
    default:
      return null
  }
}
