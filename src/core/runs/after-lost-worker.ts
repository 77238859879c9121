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
}

/**
 * Returns what happens to such a run (specification.md#journal, #run-status). A person's request comes first, so that a stop always ends in
 * `cancelled`; then the deadline; otherwise another worker continues, unless the run has lost too many.
 */
export function afterLoss(
  { status, pausing, overdue, losses }: LostState,
  max_losses: number,
): 'cancelled' | 'paused' | 'timeout' | 'lost' | 'queued' {
  if (status === 'cancelling') return 'cancelled'
  if (pausing) return 'paused'
  if (overdue) return 'timeout'
  return losses >= max_losses ? 'lost' : 'queued'
}
