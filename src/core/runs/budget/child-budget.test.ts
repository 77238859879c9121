import { expect, test } from 'vitest'
import { no_budget } from '../../../contract/runs/run-limits.ts'
import { childBudget } from './child-budget.ts'

/** Of a run that has cost 0.25 dollars, with children that have cost 0.5. */
const used = { run_cost_usd: 0.75, run_steps: 3, run_active_ms: 7_500, turn_wall_ms: 20_100 }

test.each([
  [{ ...no_budget }, null, no_budget],
  [{ ...no_budget }, 2, { ...no_budget, max_cost_usd: '2' }],
  [{ ...no_budget, max_cost_usd: '1' }, 0.1, { ...no_budget, max_cost_usd: '0.1' }],
  [{ ...no_budget, max_cost_usd: '1' }, 5, { ...no_budget, max_cost_usd: '0.25' }],
  [{ ...no_budget, max_cost_usd: '1' }, null, { ...no_budget, max_cost_usd: '0.125' }],
  [
    { ...no_budget, max_steps: 10, max_active_seconds: 60, max_wall_seconds: 100 },
    null,
    { ...no_budget, max_steps: 7, max_active_seconds: 52, max_wall_seconds: 79 },
  ],
])('of %j a child that requests %j gets %j', (of_parent, requested, expected) => {
  expect(childBudget(of_parent, used, requested)).toEqual(expected)
})

test.each([
  [{ max_cost_usd: '0.75' }, /max_cost_usd/],
  [{ max_cost_usd: '0.5' }, /max_cost_usd/],
  [{ max_steps: 3 }, /max_steps/],
  [{ max_active_seconds: 8 }, /max_active_seconds/],
  [{ max_wall_seconds: 21 }, /max_wall_seconds/],
])('of %j nothing is left', (limit, expected) => {
  expect(childBudget({ ...no_budget, ...limit }, used, 0.1)).toMatch(expected)
})
