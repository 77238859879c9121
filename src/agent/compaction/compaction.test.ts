import { expect, test } from 'vitest'
import type { ModelMessage } from '../../model/port.ts'
import { type JournalRecord, promptMessage, rebuildConversation, toolMessage } from '../conversation.ts'
import { createTokenEstimate } from '../token-estimate.ts'
import { chooseCompaction } from './choose-compaction.ts'
import { applyCompaction, CLEARED, callsOf, resultsOf, SUMMARY_PREFIX } from './compaction.ts'
import { serviceSummary } from './summary.ts'

const { measured } = createTokenEstimate('', [])
const person = (text: string) => promptMessage({ text, images: [], from_person: true })
const call = (id: string, name: string, input: Record<string, unknown>): ModelMessage => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: id, toolName: name, input }],
})
/** A step whose result has about `tokens`. */
const step = (id: string, tokens: number, name = 'shell'): ModelMessage[] => [
  call(id, name, name === 'shell' ? { command: `run ${id}` } : { path: `${id}.ts` }),
  toolMessage({ id, name }, { status: 'ok', exit_code: 0, path: `${id}.ts`, output: 'x'.repeat(3 * tokens) }),
]
const outputs = (messages: ModelMessage[]) =>
  messages.flatMap(resultsOf).map(({ output }) => ('value' in output ? output.value : null) as Record<string, unknown>)
const choose = (messages: ModelMessage[], limit_tokens: number, keep_tail = true) =>
  chooseCompaction(messages, { limit_tokens, tokensOf: measured, keep_tail })

test('old results are cleared by tokens, not by number, and each keeps its call, status and path', () => {
  const messages = [person('do it'), ...step('a', 4_000), ...step('b', 50), ...step('c', 4_000), ...step('d', 1_000)]
  const choice = choose(messages, 10_000)
  expect(choice).toMatchObject({ clear_through: 'c', summarize: null })
  const [a, b, c, d] = outputs(choice?.cleared ?? [])
  expect(a).toEqual({ status: 'ok', exit_code: 0, path: 'a.ts', note: CLEARED })
  expect(b?.output).toBeDefined()
  expect(c?.note).toBe(CLEARED)
  expect(d?.output).toHaveLength(3_000)
  expect(choice?.cleared.flatMap(callsOf)).toEqual(['a', 'b', 'c', 'd'])
})

test('a cleared search keeps the paths of its matches', () => {
  const matches = ['a.ts:1:x', 'a.ts:2:x', 'b.ts:3:x', `long:${'x'.repeat(3_000)}`]
  const messages = [call('s', 'search', { pattern: 'x' }), toolMessage({ id: 's', name: 'search' }, { status: 'ok', matches })]
  expect(outputs(applyCompaction(messages, { clear_through: 's', summary: null }))).toEqual([
    { status: 'ok', paths: ['a.ts', 'b.ts'], note: CLEARED },
  ])
})

test('messages before the cleared results stay the same objects, and a second clearing changes nothing more', () => {
  const messages = [person('do it'), ...step('a', 4_000), ...step('b', 4_000)]
  const once = applyCompaction(messages, { clear_through: 'a', summary: null })
  expect(once.map((message, i) => message === messages[i])).toEqual([true, true, false, true, true])
  expect(applyCompaction(once, { clear_through: 'a', summary: null })).toEqual(once)
})

test('when clearing is not enough, a summary replaces all but the messages of people and the last steps', () => {
  const early = Array.from({ length: 60 }, (_, i) => step(`a${i}`, 90)).flat()
  const last = [...step('y', 500), ...step('z', 500)]
  const messages = [person('first'), ...early, person('second'), ...last]
  const choice = choose(messages, 10_000)
  expect(choice?.summarize).not.toBeNull()
  const keep_from = choice?.summarize?.keep_from ?? null
  const after = applyCompaction(messages, { clear_through: null, summary: { text: 'SUMMARY', by: 'model', keep_from } })
  expect(after.slice(0, 1)).toEqual([person('first')])
  expect(after.filter(message => JSON.stringify(message).includes('SUMMARY'))).toHaveLength(1)
  expect(after.slice(-5)).toEqual([person('second'), ...last])
  expect(after.flatMap(callsOf)).toEqual(outputsOf(after))
})

const outputsOf = (messages: ModelMessage[]) => messages.flatMap(resultsOf).map(({ toolCallId }) => toolCallId)

test('the last step with all its parallel results stays together, however large it is', () => {
  const parallel: ModelMessage[] = [
    {
      role: 'assistant',
      content: ['p', 'q', 'r'].map(id => ({ type: 'tool-call', toolCallId: id, toolName: 'read', input: { path: id } })),
    },
    ...['p', 'q', 'r'].map(id => toolMessage({ id, name: 'read' }, { status: 'ok', content: 'x'.repeat(12_000) })),
  ]
  const messages = [person('go'), ...Array.from({ length: 80 }, (_, i) => step(`a${i}`, 90)).flat(), ...parallel]
  const choice = choose(messages, 8_000)
  expect(choice).toMatchObject({ clear_through: 'q', summarize: { keep_from: 'p' } })
})

test('nothing is chosen while a compaction would free little', () => {
  expect(choose([person('x'.repeat(30_000)), ...step('a', 100)], 10_000)).toBeNull()
})

test('without a tail only the messages of people and the summary stay', () => {
  const messages = [person('go'), ...Array.from({ length: 20 }, (_, i) => step(`a${i}`, 900)).flat()]
  expect(choose(messages, 1_000, false)).toMatchObject({ summarize: { keep_from: null } })
})

test('the summary of the service names changed files, commands, failures and an earlier summary', () => {
  const text = serviceSummary([
    person('go'),
    { role: 'user', content: `${SUMMARY_PREFIX}\n\nthe parser is done` },
    ...step('a', 10, 'write'),
    ...step('b', 10),
    call('c', 'edit', { path: 'gone.ts' }),
    toolMessage({ id: 'c', name: 'edit' }, { status: 'error', error: 'gone.ts does not exist' }),
    call('d', 'apply_patch', { patch: '*** Begin Patch\n*** Update File: patched.ts\n*** End Patch' }),
    toolMessage({ id: 'd', name: 'apply_patch' }, { status: 'ok' }),
    { role: 'assistant', content: 'I think it is the lexer.' },
  ])
  for (const part of [
    '- a.ts',
    '- patched.ts',
    '`run b`: exit code 0',
    'edit: gone.ts does not exist',
    'I think it is the lexer',
    'the parser is done',
  ])
    expect(text).toContain(part)
  expect(text).not.toContain('- gone.ts\n')
})

test('a rebuilt conversation has the compaction, its refusal and its tokens, regardless of the notices that a fork leaves out', () => {
  const compaction = {
    cause: 'refused' as const,
    model: 'm',
    limit_tokens: 900,
    tokens_before: 1_200,
    tokens_after: 300,
    clear_through: 'a',
  }
  const records = (notice: boolean): JournalRecord[] => [
    { kind: 'message', turn: 1, messages: [person('go')] },
    ...['a', 'b'].flatMap((id): JournalRecord[] => {
      const [call, result] = step(id, 1_000) as [ModelMessage, ModelMessage]
      return [
        { kind: 'model_answered', turn: 1, messages: [call], tool_calls: [{ id, name: 'shell', input: {} }], tokens: 5 },
        { kind: 'tool_finished', turn: 1, call_id: id, message: result },
        ...(notice ? [{ kind: 'message' as const, turn: 1, messages: [{ role: 'user' as const, content: 'near' }] }] : []),
      ]
    }),
    { kind: 'compacted', turn: 1, compaction: { ...compaction, summary: { text: 'S', by: 'model', keep_from: 'b' } }, tokens: 70 },
  ]
  const conversation = rebuildConversation(records(true), 1)
  expect(conversation).toMatchObject({ turn_tokens: 80, refused: { model: 'm', limit_tokens: 900 }, counted: null })
  expect([...conversation.call_ids]).toEqual(['a', 'b'])
  const forked = rebuildConversation(records(false), 2).messages
  expect(forked).toEqual(conversation.messages.filter(({ content }) => content !== 'near'))
  expect(forked.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'tool'])
})
