import { usedUp } from '../../core/runs/budget/pot.ts'
import { ServiceError } from '../../core/service-error.ts'
import { sharedPots } from '../../store/access/shared-pots.ts'
import type { Db } from '../../store/database.ts'

// Clients of the public API recognize this refusal by these words.
const KNOWN_WORDS =
  'Alloted agent runs for the current billing plan have been reached. Please upgrade your plan to continue.'

/**
 * Throws 402 when a pot that the run shares is used up: the budget of its organization, or the number of
 * runs, in this month (UTC).
 * @param created how many runs this transaction has created itself; null: the number of runs does not matter,
 *   because no turn begins.
 * Concurrent creates are counted correctly when each of them holds the organization's row by then, as every
 * event does.
 */
export async function requireQuota(
  tx: Db,
  run: { organization_id: number; id: number },
  created: number | null,
): Promise<void> {
  const why = usedUp(await sharedPots(tx, run.organization_id, run.id, 'all'), created)
  if (why !== null) throw new ServiceError('quota_exceeded', `${KNOWN_WORDS} ${why}`)
}
