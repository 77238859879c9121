import { byLimit, type RunBudget } from '../../../contract/runs/run-limits.ts'
import { type RunSpent, usedLimits } from './limits.ts'
import { share } from './pot.ts'

/**
 * Returns the maximum budget of a child: for every limit the rest of its parent's, and for money the
 * requested amount or half of the rest. `used`: with what its children have cost, and may still cost. A text:
 * nothing is left.
 */
export function childBudget(
  of_parent: RunBudget,
  used: RunSpent,
  requested_usd: number | null,
): RunBudget | string {
  const limits = usedLimits(of_parent, used)
  const left = new Map(
    limits.flatMap(limit =>
      limit.unit === 'usd' ? [] : [[limit.name, Math.floor(limit.allowed - limit.used)] as const],
    ),
  )
  for (const [name, rest] of left) if (rest < 1) return `Nothing is left of ${name} of this run for a child.`
  const money = share(
    { allowed: of_parent.max_cost_usd, spent: used.run_cost_usd, reserved: 0 },
    requested_usd,
  )
  if (money === 'nothing') return 'Nothing is left of max_cost_usd of this run for a child.'
  return byLimit(name => (name === 'max_cost_usd' ? money.usd : (left.get(name) ?? null)))
}
