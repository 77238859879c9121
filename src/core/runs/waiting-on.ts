import type { RunPhase, RunStatus, WaitingOn, WaitingReason } from '../../contract/runs/runs.ts'

/** What a run's row and its journal say of it at this moment. */
export type Doing = {
  status: RunStatus
  phase: RunPhase | null
  waiting_on: WaitingReason | null
  /** A worker may claim it. */
  claimable: boolean
  /** Its owner has let the lease end, or another is to go on with it. */
  ownerless: boolean
  /** It was asked to pause, and its worker has not let go yet. */
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

/** Each intent is written before its effect, so the last one tells what is going on. An answer whose tool has not begun waits for the files. */
const ofRecord: Record<string, WaitingOn> = {
  model_started: 'model',
  model_failed: 'model_retry',
  model_answered: 'clone',
  tool_started: 'tool',
}

/**
 * What a run waits for right now, derived and never stored, so that nobody can forget to change it (specification.md#run-status). Null: nothing, as it is
 * paused or over. A question that was answered waits for a worker.
 */
export function waitingOn(run: Doing): WaitingOn | null {
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
