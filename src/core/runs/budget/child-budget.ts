import { plainDecimal } from '../../text/plain-decimal.ts'

/** How many runs an agent may start in one run, and how many generations of children may exist below the first run. */
export const MAX_CHILDREN = 10
export const MAX_GENERATIONS = 3

type Limits = {
  max_cost_usd: string | null
  max_steps: number | null
  max_active_seconds: number | null
  max_wall_seconds: number | null
}
/** `children_usd`: what its children have cost, and may still cost. `wall_seconds`: since its turn was requested. */
type Used = { cost_usd: number; children_usd: number; steps: number; active_seconds: number; wall_seconds: number }

/**
 * Returns the maximum budget of a child: for every limit the rest of its parent's, and for money the requested amount or half of the rest.
 * A text: nothing is left.
 */
export function childBudget(of_parent: Limits, used: Used, requested_usd: number | null): Limits | string {
  const steps = left(of_parent.max_steps, used.steps)
  const active = left(of_parent.max_active_seconds, used.active_seconds)
  const wall = left(of_parent.max_wall_seconds, used.wall_seconds)
  for (const [name, rest] of Object.entries({ max_steps: steps, max_active_seconds: active, max_wall_seconds: wall }))
    if (rest !== null && rest < 1) return `Nothing is left of ${name} of this run for a child.`
  const rest_usd = of_parent.max_cost_usd === null ? null : Number(of_parent.max_cost_usd) - used.cost_usd - used.children_usd
  if (rest_usd !== null && rest_usd < MIN_USD) return 'Nothing is left of max_cost_usd of this run for a child.'
  const usd = rest_usd === null ? requested_usd : Math.min(requested_usd ?? rest_usd / 2, rest_usd)
  return {
    // Rounded down, so that all children together never exceed the budget.
    max_cost_usd: usd === null ? null : plainDecimal((Math.floor(usd / MIN_USD + ROUNDING) * MIN_USD).toFixed(6)),
    max_steps: steps,
    max_active_seconds: active,
    max_wall_seconds: wall,
  }
}

const MIN_USD = 1e-6
/** The rounding error of a floating-point division. */
const ROUNDING = 1e-6

const left = (allowed: number | null, used: number) => (allowed === null ? null : Math.floor(allowed - used))
