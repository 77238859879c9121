import { expect, test } from 'vitest'
import { childBudget } from './child-budget.ts'

const unbound = { max_cost_usd: null, max_steps: null, max_active_seconds: null, max_wall_seconds: null }
const used = { cost_usd: 0.25, children_usd: 0.5, steps: 3, active_seconds: 7.5, wall_seconds: 20.1 }

test.each([
  [{ ...unbound }, null, unbound],
  [{ ...unbound }, 2, { ...unbound, max_cost_usd: '2' }],
  [{ ...unbound, max_cost_usd: '1' }, 0.1, { ...unbound, max_cost_usd: '0.1' }],
  [{ ...unbound, max_cost_usd: '1' }, 5, { ...unbound, max_cost_usd: '0.25' }],
  [{ ...unbound, max_cost_usd: '1' }, null, { ...unbound, max_cost_usd: '0.125' }],
  [
    { ...unbound, max_steps: 10, max_active_seconds: 60, max_wall_seconds: 100 },
    null,
    { ...unbound, max_steps: 7, max_active_seconds: 52, max_wall_seconds: 79 },
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
  expect(childBudget({ ...unbound, ...limit }, used, 0.1)).toMatch(expected)
})
