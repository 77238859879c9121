import { expect, test } from 'vitest'
import { no_budget } from '../../../../../src/contract/runs/run-limits.ts'
import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { reachedLimit, remedyOf } from './remedy.ts'

const run = (fields: Partial<AgentRun>) =>
  ({
    status: 'completed',
    status_reason: null,
    source_type: 'CHAT',
    banned: false,
    checks: null,
    error: null,
    budget: no_budget,
    ...fields,
  }) as AgentRun
const atBudget = (budget: Partial<AgentRun['budget']>, message: string) =>
  remedyOf(
    run({
      status: 'paused',
      status_reason: 'budget',
      budget: { ...no_budget, ...budget },
      error: { code: 'budget', message },
    }),
  )

test('a reached budget is doubled, and only the limit that was reached', () => {
  expect(atBudget({ max_steps: 5, max_cost_usd: '2' }, 'its budget allows max_steps 5')).toEqual({
    kind: 'resume',
    label: 'Raise to 10 steps and continue',
    prompt: 'Continue.',
    budget: { max_steps: 10 },
  })
  expect(atBudget({ max_cost_usd: '0.15' }, 'allows max_cost_usd 0.15')).toMatchObject({
    label: 'Raise to $0.3 and continue',
    budget: { max_cost_usd: '0.3' },
  })
  expect(atBudget({ max_active_seconds: 90 }, 'allows max_active_seconds 90')).toMatchObject({
    budget: { max_active_seconds: 180 },
  })
})

test('a reached limit is named with its value, and that of the organization is none of the run', () => {
  const reached = (budget: Partial<AgentRun['budget']>, message: string) =>
    reachedLimit(
      run({
        status_reason: 'budget',
        budget: { ...no_budget, ...budget },
        error: { code: 'budget', message },
      }),
    )
  expect(reached({ max_steps: 200 }, 'its budget allows max_steps 200')).toBe('Step limit reached (200)')
  expect(reached({ max_steps: 200, max_cost_usd: '0.15' }, 'allows max_cost_usd 0.15')).toBe(
    'Cost limit reached ($0.15)',
  )
  expect(reached({ max_steps: 200 }, 'the organization may spend (budget_usd_per_month)')).toBeNull()
})

test('the budget of the organization is not raised with that of the run', () => {
  expect(atBudget({ max_steps: 5 }, 'the organization may spend (budget_usd_per_month)')).toMatchObject({
    kind: 'settings',
  })
})

test('each state that waits for a person names what is missing', () => {
  expect(remedyOf(run({ status: 'waiting', waiting_on: 'user_input' }))).toMatchObject({
    kind: 'reply',
    label: 'Reply',
  })
  expect(remedyOf(run({ status: 'waiting', waiting_on: 'tool_approval' }))).toMatchObject({ kind: 'approve' })
  expect(remedyOf(run({ status: 'waiting', waiting_on: 'ci' }))).toBeNull()
  expect(remedyOf(run({ status: 'waiting', waiting_on: 'slot' }))).toBeNull()
  expect(remedyOf(run({ status: 'paused', status_reason: 'user_request' }))).toMatchObject({
    label: 'Continue',
  })
})

test('a failed run is retried, and one at a limit of the service continues with new limits', () => {
  expect(remedyOf(run({ status: 'failed', status_reason: 'model_unavailable' }))).toMatchObject({
    label: 'Retry',
  })
  expect(remedyOf(run({ status: 'failed', status_reason: 'max_steps' }))).toMatchObject({
    label: 'Continue with new limits',
  })
})

test('a completed run has a remedy while checks fail, and no run that is banned or recorded', () => {
  const checks = { state: 'failure', passed: 1, failed: 1, pending: 0 } as const
  expect(remedyOf(run({ checks }))).toMatchObject({ label: 'Fix the failing checks' })
  expect(remedyOf(run({}))).toBeNull()
  expect(remedyOf(run({ status_reason: 'pull_request_refused' }))).toMatchObject({
    kind: 'resume',
    label: 'Publish again',
  })
  expect(remedyOf(run({ status_reason: 'checks_failed', checks }))).toMatchObject({
    label: 'Fix the failing checks',
  })
  expect(remedyOf(run({ status_reason: 'tool_failed' }))).toBeNull()
  expect(remedyOf(run({ status: 'failed', banned: true }))).toBeNull()
  expect(remedyOf(run({ status: 'failed', source_type: 'LOCAL' }))).toBeNull()
})
