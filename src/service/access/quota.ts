import { ServiceError } from '../../core/service-error.ts'
import { plainDecimal } from '../../core/text/plain-decimal.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { usedThisMonth } from '../../store/access/usage-days.ts'
import type { Db } from '../../store/database.ts'

// Clients of the public API recognize this refusal by these words.
const KNOWN_WORDS = 'Alloted agent runs for the current billing plan have been reached. Please upgrade your plan to continue.'

/**
 * Throws 402 when the organization has used up its budget or its number of runs of this month (UTC).
 * @param created how many runs this transaction has created itself; null: the number of runs does not matter, because no turn begins.
 * Concurrent creates are counted correctly when each of them holds the organization's row by then, as every event does.
 */
export async function requireQuota(tx: Db, organization_id: number, created: number | null): Promise<void> {
  const organization = await getOrganization(tx, organization_id)
  if (organization?.budget_usd_per_month == null && organization?.runs_per_month == null) return
  const month = await usedThisMonth(tx, organization_id)
  if (month.budget_used_up && month.budget_usd_per_month !== null) {
    const [used, max] = [month.cost_usd, month.budget_usd_per_month].map(plainDecimal)
    throw usedUp(`This month (UTC) has cost ${used} US dollars of the organization's budget of ${max} (budget_usd_per_month).`)
  }
  if (created !== null && month.runs_per_month !== null && month.runs - created >= month.runs_per_month)
    throw usedUp(`The ${month.runs_per_month} runs that the organization may create in this month (UTC) are used up (runs_per_month).`)
}

const usedUp = (why: string) => new ServiceError('quota_exceeded', `${KNOWN_WORDS} ${why}`)
