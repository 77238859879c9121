import type { LimitReached } from '../../core/runs/budget-check.ts'
import { plainDecimal } from '../../core/text/plain-decimal.ts'
import { monthWithReserved } from '../../store/access/usage-days.ts'
import type { Db } from '../../store/database.ts'

/** An organization that has no bound is not asked about before every call: a new bound is seen so much later. */
const UNBOUND_MS = 5_000

export type MonthWatch = () => Promise<LimitReached | null>

/** Asked before each model call of a run. Null: the organization can pay it, or has no bound. */
export function watchMonth(db: Db, organization_id: number): MonthWatch {
  let unbound_until = 0
  return async () => {
    if (performance.now() < unbound_until) return null
    const short = await shortOfMonth(db, organization_id)
    if (short !== 'unbound') return short
    unbound_until = performance.now() + UNBOUND_MS
    return null
  }
}

/**
 * Whether the month of the organization can pay what its model calls have set aside, this one among them. Asked when that is written down:
 * of two runs that look at the same moment at least one sees what both take.
 */
async function shortOfMonth(db: Db, organization_id: number): Promise<LimitReached | 'unbound' | null> {
  const { cost_usd, reserved_usd, budget_usd_per_month } = await monthWithReserved(db, organization_id)
  if (budget_usd_per_month === null) return 'unbound'
  if (Number(cost_usd) + Number(reserved_usd) <= Number(budget_usd_per_month)) return null
  const [spent, reserved, most] = [cost_usd, reserved_usd, budget_usd_per_month].map(plainDecimal)
  return {
    kind: 'budget',
    limit: 'budget_usd_per_month',
    message: `This month (UTC) has cost ${spent} US dollars and its calls under way may cost up to ${reserved} more, of ${most} that the organization may spend (budget_usd_per_month). The run can be resumed when there is more.`,
  }
}
