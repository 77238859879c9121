import { expect, test } from 'vitest'
import { RunStatus } from '../../contract/runs/runs.ts'
import { isTerminal } from './run-transitions.ts'
import { type RunActivity, waitingOn } from './waiting-on.ts'

const run: RunActivity = {
  status: 'running',
  phase: 'agent',
  waiting_on: null,
  claimable: false,
  ownerless: false,
  pausing: false,
  last_record: null,
}
const of = (doing: Partial<RunActivity>) => waitingOn({ ...run, ...doing })

test('an active run reports what it waits for, a paused or ended one reports nothing', () => {
  for (const status of RunStatus.options) {
    const waiting_on = status === 'waiting' ? ('user_input' as const) : null
    expect(of({ status, waiting_on }) === null).toBe(isTerminal(status) || status === 'paused')
  }
})

test.each([
  ['model_started', 'model'],
  ['model_failed', 'model_retry'],
  ['tool_started', 'tool'],
  // The intent of a tool is recorded when its files exist.
  ['model_answered', 'clone'],
  ['tool_finished', 'worker'],
  ['message', 'worker'],
  ['a kind of a later version', 'worker'],
  [null, 'worker'],
] as const)('an agent whose journal ends with %s waits for: %s', (last_record, expected) => {
  expect(of({ last_record })).toBe(expected)
})

test('the phase determines it where no agent is active', () => {
  expect(
    (['clone', 'checkout', 'setup', 'recover'] as const).map(phase => of({ status: 'starting', phase })),
  ).toEqual([...['clone', 'clone', 'setup', 'recovery']])
  expect((['push', 'pull_request', 'evaluate'] as const).map(phase => of({ phase }))).toEqual([
    'push',
    'push',
    'ci',
  ])
  expect(of({ phase: 'evaluate', last_record: 'model_started' })).toBe('model')
})

test('a run whose owner is gone, or has to release it, waits for a worker, in every phase', () => {
  expect(of({ ownerless: true, last_record: 'tool_started' })).toBe('worker')
  expect(of({ pausing: true, last_record: 'tool_started' })).toBe('worker')
  expect(of({ status: 'cancelling', phase: null })).toBe('worker')
  expect(of({ status: 'queued', phase: null, ownerless: true })).toBe('worker')
  expect(of({ status: 'queued', phase: null })).toBe('slot')
})

test('a question waits for its answer, and an answered one for a worker', () => {
  expect(of({ status: 'waiting', waiting_on: 'user_input' })).toBe('user_input')
  expect(of({ status: 'waiting', waiting_on: 'ci' })).toBe('ci')
  expect(of({ status: 'waiting', waiting_on: 'user_input', claimable: true })).toBe('slot')
})
