import {
  completionReasons,
  failureReasons,
  pauseReasons,
  type RunPhase,
  type RunStatus,
  runningPhases,
  type StatusReason,
  startingPhases,
  type WaitingReason,
} from '../../contract/runs/runs.ts'

/** Who or what causes the change: only a resume may move a finished run. */
type Transition = { from: RunStatus; to: RunStatus; by_resume?: boolean }

const edges: Record<RunStatus, readonly RunStatus[]> = {
  queued: ['starting', 'paused', 'cancelling', 'failed'],
  starting: ['running', 'queued', 'paused', 'cancelling', 'failed'],
  running: ['queued', 'waiting', 'paused', 'cancelling', 'failed', 'completed'],
  waiting: ['running', 'paused', 'cancelling', 'failed'],
  paused: ['queued', 'cancelling'],
  cancelling: ['cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
}

const TERMINAL: readonly RunStatus[] = ['completed', 'failed', 'cancelled']
export const isTerminal = (status: RunStatus) => TERMINAL.includes(status)

/**
 * Returns whether a transition is allowed: the one table of specification.md#run-status. Terminal runs move only by a resume, and only to
 * `queued`.
 */
export function mayMove({ from, to, by_resume = false }: Transition): boolean {
  if (isTerminal(from)) return by_resume && to === 'queued'
  return edges[from].includes(to)
}

/** Returns every status from which `to` may be reached without a resume, for the `where` of a conditional update. */
export function sourcesOf(to: RunStatus): RunStatus[] {
  return (Object.keys(edges) as RunStatus[]).filter(from => edges[from].includes(to))
}

/** The fields that refine a status. A combination that this does not allow is never written. */
type StatusDetail = {
  status: RunStatus
  status_reason: StatusReason | null
  phase: RunPhase | null
  waiting_on: WaitingReason | null
}

type Reasons = { reasons: readonly StatusReason[]; required: boolean }

const NO_REASONS: Reasons = { reasons: [], required: false }
const reasonsOf: Partial<Record<RunStatus, Reasons>> = {
  failed: { reasons: failureReasons, required: true },
  paused: { reasons: pauseReasons, required: true },
  completed: { reasons: completionReasons, required: false },
}

const includes = (list: readonly string[], value: string) => list.includes(value)

/** Returns whether reason, phase and waiting_on are consistent with the status (specification.md#run-status). */
export function isConsistent({ status, status_reason, phase, waiting_on }: StatusDetail): boolean {
  const { reasons, required } = reasonsOf[status] ?? NO_REASONS
  const reasonFits = status_reason === null ? !required : includes(reasons, status_reason)
  const phaseFits =
    status === 'starting'
      ? phase !== null && includes(startingPhases, phase)
      : status === 'running'
        ? phase !== null && includes(runningPhases, phase)
        : phase === null
  return reasonFits && phaseFits && (waiting_on !== null) === (status === 'waiting')
}
