import { ServiceError } from '../../core/service-error.ts'
import { plainDecimal } from '../../core/text/plain-decimal.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { usedThisMonth } from '../../store/access/usage-days.ts'
import type { Db } from '../../store/database.ts'

// What clients of the public API know this refusal by.
const KNOWN_WORDS = 'Alloted agent runs for the current billing plan have been reached. Please upgrade your plan to continue.'

/**
 * 402 when the organization has used up what it may spend, or how many runs it may make, in this month (UTC).
 * @param made how many runs this transaction has made itself; null: the number of runs does not matter, as no turn begins.
 * Two creates at once are told apart when each of them holds the organization's row by then, as every event does.
 */
export async function requireQuota(tx: Db, organization_id: number, made: number | null): Promise<void> {
  const organization = await getOrganization(tx, organization_id)
  if (organization?.budget_usd_per_month == null && organization?.runs_per_month == null) return
  const month = await usedThisMonth(tx, organization_id)
  if (month.budget_used_up && month.budget_usd_per_month !== null) {
    const [used, most] = [month.cost_usd, month.budget_usd_per_month].map(plainDecimal)
    throw usedUp(`This month (UTC) has cost ${used} US dollars, of ${most} that the organization may spend (budget_usd_per_month).`)
  }
  if (made !== null && month.runs_per_month !== null && month.runs - made >= month.runs_per_month)
    throw usedUp(`The ${month.runs_per_month} runs that the organization may make in this month (UTC) are made (runs_per_month).`)
}

const usedUp = (why: string) => new ServiceError('quota_exceeded', `${KNOWN_WORDS} ${why}`)
