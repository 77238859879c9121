import { plainDecimal } from '../text/plain-decimal.ts'

/** At most so many runs does an agent start in one run, and so many generations stand below the first. */
export const MOST_CHILDREN = 10
export const MOST_GENERATIONS = 3

type Limits = {
  max_cost_usd: string | null
  max_steps: number | null
  max_active_seconds: number | null
  max_wall_seconds: number | null
}
/** `children_usd`: what its children have cost, and may still cost. `wall_seconds`: since its turn was asked for. */
type Used = { cost_usd: number; children_usd: number; steps: number; active_seconds: number; wall_seconds: number }

/** What a child may take at most: of every limit of its parent what is left, and of the money what was asked for, or else half of that. A text: nothing is left. */
export function childBudget(of_parent: Limits, used: Used, asked_usd: number | null): Limits | string {
  const steps = left(of_parent.max_steps, used.steps)
  const active = left(of_parent.max_active_seconds, used.active_seconds)
  const wall = left(of_parent.max_wall_seconds, used.wall_seconds)
  for (const [name, rest] of Object.entries({ max_steps: steps, max_active_seconds: active, max_wall_seconds: wall }))
    if (rest !== null && rest < 1) return `Nothing is left of ${name} of this run for a child.`
  const rest_usd = of_parent.max_cost_usd === null ? null : Number(of_parent.max_cost_usd) - used.cost_usd - used.children_usd
  if (rest_usd !== null && rest_usd < LEAST_USD) return 'Nothing is left of max_cost_usd of this run for a child.'
  const usd = rest_usd === null ? asked_usd : Math.min(asked_usd ?? rest_usd / 2, rest_usd)
  return {
    // Down, so that all children together never get more than there is.
    max_cost_usd: usd === null ? null : plainDecimal((Math.floor(usd / LEAST_USD + ROUNDING) * LEAST_USD).toFixed(6)),
    max_steps: steps,
    max_active_seconds: active,
    max_wall_seconds: wall,
  }
}

const LEAST_USD = 1e-6
/** What a division of floating-point numbers may be off. */
const ROUNDING = 1e-6

const left = (most: number | null, used: number) => (most === null ? null : Math.floor(most - used))
