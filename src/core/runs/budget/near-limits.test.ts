import { expect, test } from 'vitest'
import { no_budget, type RunBudget } from '../../../contract/runs/run-limits.ts'
import type { SpentAmounts } from './limits.ts'
import { nearLimits, noticeKey, noticeText } from './near-limits.ts'

const spent: SpentAmounts = {
  run_steps: 0,
  run_cost_usd: 0,
  run_active_ms: 0,
  turn_wall_ms: 0,
  turn_steps: 0,
  turn_tokens: 0,
  turn_active_ms: 0,
}
const ceilings = { max_steps: 200, max_tokens: 1_000, max_active_ms: 60_000 }
const near = (
  used: Partial<SpentAmounts>,
  budget: Partial<RunBudget> = {},
  others: Parameters<typeof nearLimits>[3] = [],
) =>
  nearLimits({ ...spent, ...used }, { ...no_budget, ...budget }, ceilings, others).map(
    ({ limit, level }) => `${limit}: ${level}`,
  )

test('a run that is far from its limits gets no notice', () => {
  expect(near({}, { max_steps: 1, max_cost_usd: '0.5' })).toEqual([])
  expect(near({ turn_steps: 159, turn_tokens: 799, run_cost_usd: 0.39 }, { max_cost_usd: '0.5' })).toEqual([])
})

test.each([
  [{ run_cost_usd: 0.4 }, { max_cost_usd: '0.5' }, 'budget max_cost_usd: near'],
  [{ run_cost_usd: 0.475 }, { max_cost_usd: '0.5' }, 'budget max_cost_usd: last'],
  [{ run_steps: 8 }, { max_steps: 10 }, 'budget max_steps: near'],
  [{ run_steps: 2 }, { max_steps: 3 }, 'budget max_steps: last'],
  [{ run_active_ms: 80_000 }, { max_active_seconds: 100 }, 'budget max_active_seconds: near'],
  [{ turn_wall_ms: 8_000 }, { max_wall_seconds: 10 }, 'budget max_wall_seconds: near'],
  [{ turn_steps: 160 }, {}, 'steps of the turn: near'],
  [{ turn_steps: 199 }, {}, 'steps of the turn: last'],
  [{ turn_tokens: 950 }, {}, 'tokens of the turn: last'],
  [{ turn_active_ms: 48_000 }, {}, 'seconds of work of the turn: near'],
])('%j of %j', (used, budget, expected) => {
  expect(near(used, budget)).toEqual([expected])
})

test('the deadline is a limit where there is one', () => {
  expect(near({}, {}, [['seconds of the turn', 160, 200]])).toEqual(['seconds of the turn: near'])
  expect(near({}, {}, [['seconds of the turn', 160, null]])).toEqual([])
})

test('a notice is of one limit as it is: raised, or nearer, it is another one', () => {
  const keys = [near_steps(8, 10), near_steps(9, 10), near_steps(16, 20)].map(noticeKey)
  expect(new Set(keys).size).toBe(3)
})

test('the agent gets what is left, and the advice to end only when almost nothing is left', () => {
  expect(noticeText([near_steps(8, 10)])).toMatch(/budget max_steps: 8 of 10\nDo what matters most first/)
  expect(noticeText([near_steps(9, 10)])).toMatch(/final answer now/)
})

function near_steps(run_steps: number, max_steps: number) {
  const [found] = nearLimits({ ...spent, run_steps }, { ...no_budget, max_steps }, ceilings, [])
  if (!found) throw new Error('nothing near')
  return found
}
