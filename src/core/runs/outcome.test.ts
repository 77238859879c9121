import { expect, test } from 'vitest'
import { failureReasons, pauseReasons } from '../../contract/runs/runs.ts'
import { completed, type FinalOutcome, moveOf, outcomeOfLimit } from './outcome.ts'
import { requireAllowed } from './run-transitions.ts'

const message = 'It stopped.'
const outcomes: FinalOutcome[] = [
  completed({ text: 'Done.', thought: null }, {}),
  completed({ text: 'Done.', thought: null }, { push_refusal: 'The branch is protected.' }),
  ...failureReasons.map(reason => ({
    kind: 'failed' as const,
    reason,
    code: 'x',
    message,
    phase: 'agent' as const,
  })),
  ...pauseReasons.map(reason => ({ kind: 'paused' as const, reason, message })),
  { kind: 'waiting', approval_of: null },
  { kind: 'waiting', approval_of: 'a'.repeat(40) },
  { kind: 'waiting_for_checks', seconds: 5 },
  { kind: 'stop' },
]

test.each(outcomes)(
  'the status of each outcome is one that a run may get, with a reason that it may have: %j',
  outcome => {
    const { from, ...move } = moveOf(outcome, 60)
    expect(() => requireAllowed(from, move)).not.toThrow()
  },
)

test('the error of an outcome is shown with its code, and an answer as the result', () => {
  const failure = {
    kind: 'failed',
    reason: 'agent_error',
    code: 'internal',
    message,
    phase: 'agent',
  } as const
  expect(moveOf(failure, 60)).toMatchObject({ error: { code: 'internal', message } })
  expect(moveOf({ kind: 'paused', reason: 'budget', message }, 60)).toMatchObject({
    error: { code: 'budget', message },
  })
  expect(moveOf(completed({ text: 'Done.', thought: null }, { tool_status: 'error' }), 60)).toEqual({
    from: ['running'],
    to: 'completed',
    because: 'tool_failed',
    result: 'Done.\n\nThe tool call failed: its status is error.',
  })
})

test('a run waits for a person or an approval as long as for any answer, and for checks as long as they may take', () => {
  expect(moveOf({ kind: 'waiting', approval_of: null }, 60)).toMatchObject({
    because: 'user_input',
    deadline_seconds: 60,
  })
  expect(moveOf({ kind: 'waiting', approval_of: 'abc' }, 60)).toMatchObject({
    because: 'tool_approval',
    deadline_seconds: 60,
  })
  expect(moveOf({ kind: 'waiting_for_checks', seconds: 5 }, 60)).toMatchObject({
    because: 'ci',
    deadline_seconds: 5,
  })
})

test('a limit of the budget pauses the run, a ceiling of the service ends it', () => {
  expect(moveOf(outcomeOfLimit({ kind: 'budget', limit: 'max_steps', message }), 60)).toMatchObject({
    to: 'paused',
    because: 'budget',
  })
  expect(moveOf(outcomeOfLimit({ kind: 'ceiling', reason: 'timeout', message }), 60)).toMatchObject({
    to: 'failed',
    because: 'timeout',
  })
})
