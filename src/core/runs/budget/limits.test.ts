import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { limit_names, no_budget } from '../../../contract/runs/run-limits.ts'
import { countedTokens, limitReached } from './limits.ts'

const spent = {
  run_steps: 5,
  run_cost_usd: 1.5,
  run_active_ms: 60_000,
  turn_wall_ms: 90_000,
  turn_steps: 5,
  turn_tokens: 1000,
  turn_active_ms: 60_000,
}
const wide = { max_steps: 100, max_tokens: 100_000, max_active_ms: 1_000_000 }

test('a prompt from the cache of the provider counts a tenth against the ceiling', () => {
  expect(countedTokens({ input_tokens: 1_000, output_tokens: 50, cached_tokens: 0 })).toBe(1_050)
  expect(countedTokens({ input_tokens: 1_000, output_tokens: 50, cached_tokens: 900 })).toBe(240)
})

test('nothing is reached below every limit', () => {
  expect(limitReached(spent, no_budget, wide)).toBeNull()
  expect(
    limitReached(
      spent,
      { max_cost_usd: '1.51', max_steps: 6, max_active_seconds: 61, max_wall_seconds: 91 },
      wide,
    ),
  ).toBeNull()
})

test("the caller's limits pause, each of them", () => {
  for (const budget of [
    { max_cost_usd: '1.5' },
    { max_steps: 5 },
    { max_active_seconds: 60 },
    { max_wall_seconds: 90 },
  ])
    expect(limitReached(spent, { ...no_budget, ...budget }, wide)).toMatchObject({
      kind: 'budget',
      limit: Object.keys(budget)[0],
    })
})

test("the service's ceilings end the run, each with its reason", () => {
  expect(limitReached(spent, no_budget, { ...wide, max_steps: 5 })).toMatchObject({
    kind: 'ceiling',
    reason: 'max_steps',
  })
  expect(limitReached(spent, no_budget, { ...wide, max_tokens: 1000 })).toMatchObject({
    kind: 'ceiling',
    reason: 'out_of_tokens',
  })
  expect(limitReached(spent, no_budget, { ...wide, max_active_ms: 60_000 })).toMatchObject({
    kind: 'ceiling',
    reason: 'timeout',
  })
})

test('every limit has its column, and its row with the option in the documentation', () => {
  const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
  const [, runs = ''] = /^create table runs \(([^;]*)\);/m.exec(read('src/store/schema.sql')) ?? []
  const columns = [...runs.matchAll(/^ +budget_(\w+) /gm)].map(([, name]) => name)
  expect(columns.sort()).toEqual(limit_names.toSorted())
  const guide = read('docs/how-to/budgets.md')
  for (const name of limit_names)
    expect(guide).toContain(`| \`${name}\` | \`--${name.replaceAll('_', '-')}\` |`)
})
