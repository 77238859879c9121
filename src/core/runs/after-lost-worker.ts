import type { RunStatus } from '../../contract/runs/runs.ts'

/** The state of a run whose worker lost its lease. */
type LostState = {
  status: RunStatus
  /** A pause was requested, and the run was not resumed since. */
  pausing: boolean
  /** Its deadline has passed. */
  overdue: boolean
  /** Leases lost in this turn before this one. */
  losses: number
  /** The run was in hand when the event loop of its process stalled. */
  stalled: boolean
  /** How often that happened in this turn before. */
  stalls: number
}

/** How often a turn is continued after it stalled its process, each time without other runs beside it. */
export const MAX_STALLS = 1

/**
 * Returns what happens to such a run (specification.md#journal, #run-status). A person's request comes first,
 * so that a stop always ends in `cancelled`; then the deadline; otherwise another worker continues, unless
 * the run has lost too many or stalls each of them.
 */
export function afterLoss(
  { status, pausing, overdue, losses, stalled, stalls }: LostState,
  max_losses: number,
): 'cancelled' | 'paused' | 'timeout' | 'stalled' | 'lost' | 'queued' {
  if (status === 'cancelling') return 'cancelled'
  if (pausing) return 'paused'
  if (overdue) return 'timeout'
  if (stalled && stalls >= MAX_STALLS) return 'stalled'
  return losses >= max_losses ? 'lost' : 'queued'
}
