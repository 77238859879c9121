import { plainDecimal } from '../core/plain-decimal.ts'
import type { LimitReached } from '../core/run-limits.ts'
import type { Db } from '../store/database.ts'
import { monthWithReserved } from '../store/usage-days.ts'

/**
 * Whether the month of the organization can pay what its model calls have set aside, this one among them. Asked when that is written down:
 * of two runs that look at the same moment at least one sees what both take. Null: it can, or has no limit.
 */
export async function affordable(db: Db, organization_id: number): Promise<LimitReached | null> {
  const { cost_usd, reserved_usd, budget_usd_per_month } = await monthWithReserved(db, organization_id)
  if (budget_usd_per_month === null || Number(cost_usd) + Number(reserved_usd) <= Number(budget_usd_per_month)) return null
  const [spent, reserved, most] = [cost_usd, reserved_usd, budget_usd_per_month].map(plainDecimal)
  return {
    kind: 'budget',
    limit: 'budget_usd_per_month',
    message: `This month (UTC) has cost ${spent} US dollars and its calls under way may cost up to ${reserved} more, of ${most} that the organization may spend (budget_usd_per_month). The run can be resumed when there is more.`,
  }
}
