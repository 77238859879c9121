import { expect, it } from 'vitest'
import { type JournalRecord, rebuildConversation } from '../../src/agent/conversation.ts'

const reservation = { model: 'm', input_tokens: 10, output_tokens: 10, cost_usd: '1' }
const call = { id: 'c1', name: 'bash', input: {} }
const started: JournalRecord = { kind: 'model_started', turn: 1, reservation }

it('keeps a call of the model open while a program reports its tools', () => {
  const finished: JournalRecord = {
    kind: 'tool_finished',
    turn: 1,
    call_id: 'c1',
    message: { role: 'assistant', content: 'done' },
  }
  const records: JournalRecord[] = [started, { kind: 'tool_started', turn: 1, call }, finished]
  expect(rebuildConversation(records, 1).open_model_calls).toEqual([{ key: null, reservation }])
})

it('keeps each parallel call of a program open until its own record ends it', () => {
  const parallel = (key: string): JournalRecord => ({
    kind: 'model_started',
    turn: 1,
    key,
    reservation: { ...reservation, model: key },
  })
  const message: JournalRecord = { kind: 'message', turn: 1, messages: [] }
  const ended: JournalRecord = {
    kind: 'model_answered',
    turn: 1,
    key: 'b',
    messages: [],
    tool_calls: [],
    tokens: 1,
  }
  const open = (records: JournalRecord[]) =>
    rebuildConversation(records, 1).open_model_calls.map(({ key }) => key)
  expect(open([parallel('a'), parallel('b'), parallel('c'), message, ended])).toEqual(['a', 'c'])
  expect(
    open([
      parallel('a'),
      parallel('b'),
      ended,
      { kind: 'model_failed', turn: 1, key: 'a', code: 'lost', charge: null },
    ]),
  ).toEqual([])
  expect(open([parallel('a'), started, message])).toEqual(['a'])
  // A fork copies calls of the other run with turn 0.
  expect(open([{ ...parallel('a'), turn: 0 }, message])).toEqual([])
})

it('keeps the ending of a turn when a call without content ends after it', () => {
  const ends_turn = { kind: 'answer' as const, text: 'Done.', thought: null }
  const ended: JournalRecord = {
    kind: 'tool_finished',
    turn: 1,
    call_id: 'a',
    message: { role: 'assistant', content: 'Done.' },
    ends_turn,
  }
  const late: JournalRecord = { kind: 'model_answered', turn: 1, messages: [], tool_calls: [], tokens: 5 }
  expect(rebuildConversation([started, ended, late], 1).ending).toEqual(ends_turn)
})
