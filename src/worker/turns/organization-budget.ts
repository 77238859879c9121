import type { LimitReached } from '../../core/runs/budget/budget-check.ts'
import { plainDecimal } from '../../core/text/plain-decimal.ts'
import { monthWithReserved } from '../../store/access/usage-days.ts'
import type { Db } from '../../store/database.ts'

/** How long an organization without a budget is not queried again: a new budget applies that much later. */
const NO_BUDGET_MS = 5_000

type MonthWatch = () => Promise<LimitReached | null>

/**
 * Returns a function to call before each model call of a run: the limit that is reached. Null: the organization can pay for it, or has no
 * budget.
 */
export function watchMonth(db: Db, organization_id: number): MonthWatch {
  let no_budget_until = 0
  return async () => {
    if (performance.now() < no_budget_until) return null
    const reached = await monthLimit(db, organization_id)
    if (reached !== 'no_budget') return reached
    no_budget_until = performance.now() + NO_BUDGET_MS
    return null
  }
}

/**
 * Whether the budget of the month covers what the model calls of the organization have reserved. Called after the reservation is recorded: of two
 * concurrent runs at least one sees both reservations.
 */
async function monthLimit(db: Db, organization_id: number): Promise<LimitReached | 'no_budget' | null> {
  const { cost_usd, reserved_usd, budget_usd_per_month } = await monthWithReserved(db, organization_id)
  if (budget_usd_per_month === null) return 'no_budget'
  if (Number(cost_usd) + Number(reserved_usd) <= Number(budget_usd_per_month)) return null
  const [spent, reserved, budget] = [cost_usd, reserved_usd, budget_usd_per_month].map(plainDecimal)
  return {
    kind: 'budget',
    limit: 'budget_usd_per_month',
    message: `This month (UTC) has cost ${spent} US dollars and its calls in progress may cost up to ${reserved} more, of ${budget} that the organization may spend (budget_usd_per_month). The run can be resumed when there is more.`,
  }
}
