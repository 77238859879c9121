import { expect, test } from 'vitest'
import type { JournalRecord } from '../../../agent/conversation.ts'
import { isLastResponseMissing } from './missing-response.ts'

const started = (key: string, has_tools = true): JournalRecord => ({
  kind: 'model_started',
  turn: 1,
  key,
  has_tools,
})
const responded = (key: string): JournalRecord => ({
  kind: 'model_answered',
  turn: 1,
  key,
  messages: [],
  tool_calls: [],
  tokens: 1,
})
const failed = (key: string, code = 'aborted', left = false): JournalRecord => ({
  kind: 'model_failed',
  turn: 1,
  key,
  code,
  charge: null,
  left,
})

test.each([
  ['was aborted', [started('a'), responded('a'), started('b'), failed('b')]],
  ['was the only one', [started('a'), failed('a')]],
  ['was lost with its worker', [started('a'), responded('a'), started('b'), failed('b', 'lost')]],
  [
    'was aborted, and a title was written later',
    [started('a'), failed('a'), started('t', false), responded('t')],
  ],
  ['was aborted where no call has tools', [started('a', false), failed('a')]],
])('the response is missing of a last call that %s', (_, records) => {
  expect(isLastResponseMissing(records)).toBe(true)
})

test.each([
  ['no call', []],
  ['a call that was repeated', [started('a'), failed('a'), started('b'), responded('b')]],
  ['a call that began before the last response', [started('a'), started('b'), responded('b'), failed('a')]],
  [
    'a call without tools beside one with tools',
    [started('a'), responded('a'), started('t', false), failed('t')],
  ],
  [
    'a call that was open at the end of the turn',
    [started('a'), responded('a'), started('b'), failed('b', 'aborted', true)],
  ],
  ['a call that was not sent', [started('a'), responded('a'), started('b'), failed('b', 'not_called')]],
  [
    'a call of the built-in agent',
    [{ kind: 'model_started', turn: 1 } as const, { ...failed('a'), key: null }],
  ],
])('no response is missing after %s', (_, records) => {
  expect(isLastResponseMissing(records)).toBe(false)
})
