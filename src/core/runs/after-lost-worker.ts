import type { RunStatus } from '../../contract/runs/runs.ts'

/** What is known of a run whose owner has let its lease end. */
export type LostState = {
  status: RunStatus
  /** It was asked to pause, and not resumed since. */
  pausing: boolean
  /** Its deadline is over. */
  overdue: boolean
  /** Leases that ended in this turn, without this one. */
  losses: number
}

/**
 * What becomes of such a run (specification.md#journal, #run-status): what people asked for comes first, so that a stop is never anything but `cancelled`; then its
 * time; otherwise another worker goes on, unless it has lost too many.
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

/** How far a heartbeat extends a lease. */
export const LEASE_SECONDS = 5
/** A lease never reaches further than this past the deadline: so long a turn may take to end in order. */
export const END_SECONDS = 30
