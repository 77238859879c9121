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
 * Returns whether a transition is allowed: the one table of specification.md#run-status. Terminal runs move
 * only by a resume, and only to `queued`.
 */
export function mayMove({ from, to, by_resume = false }: Transition): boolean {
  if (isTerminal(from)) return by_resume && to === 'queued'
  return edges[from].includes(to)
}

/**
 * Returns every status from which `to` may be reached without a resume, for the `where` of a conditional
 * update.
 */
export function sourcesOf(to: RunStatus): RunStatus[] {
  return (Object.keys(edges) as RunStatus[]).filter(from => edges[from].includes(to))
}

/**
 * A change of status, with the reason for it. A run is queued because a person or an event starts a turn,
 * because a person continues a paused one, or because its worker or sandbox was lost or its worker hands it
 * over. A recorded session that reports again is `running` at once.
 */
export type Move =
  | { to: 'queued'; because: 'new_turn' | 'continued'; deadline_seconds: number }
  | { to: 'queued'; because: 'worker_lost' | 'sandbox_lost' | 'handed_over' }
  | { to: 'starting'; phase: RunPhase }
  | { to: 'running'; phase: RunPhase }
  | { to: 'running'; because: 'session_reports' }
  | { to: 'waiting'; because: WaitingReason | 'answered'; deadline_seconds: number }
  | { to: 'paused'; because: StatusReason; error?: RunError; user_id?: number }
  | { to: 'failed'; because: StatusReason; error?: RunError }
  | { to: 'completed'; because?: StatusReason | null; result: string }
  | { to: 'cancelling'; user_id: number }
  | { to: 'cancelled' }

/** Why a run failed or is paused, for people. */
type RunError = { code: string; message: string }

/** Throws for a move that the table of specification.md#run-status does not allow, which is a bug. */
export function requireAllowed(from: readonly RunStatus[], move: Move): void {
  const because = 'because' in move ? (move.because ?? null) : null
  // Recorded runs have no worker: their sessions report that they continue.
  if (because === 'session_reports') return
  const by_resume = because === 'new_turn' || because === 'continued'
  const forbidden = from.find(
    status => status !== move.to && !mayMove({ from: status, to: move.to, by_resume }),
  )
  if (forbidden) throw new Error(`a run does not move from ${forbidden} to ${move.to}`)
  if (!isConsistent(detailOf(move))) throw new Error(`a run cannot be ${move.to} with ${because}`)
}

function detailOf(move: Move): StatusDetail {
  const plain = { status: move.to, status_reason: null, phase: null, waiting_on: null }
  if (move.to === 'paused' || move.to === 'failed' || move.to === 'completed')
    return { ...plain, status_reason: move.because ?? null }
  if ('phase' in move) return { ...plain, phase: move.phase }
  // An answered run keeps what it waits for until it is claimed.
  if (move.to === 'waiting')
    return { ...plain, waiting_on: move.because === 'answered' ? 'user_input' : move.because }
  return plain
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

/**
 * Returns whether reason, phase and waiting_on are consistent with the status (specification.md#run-status).
 */
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
