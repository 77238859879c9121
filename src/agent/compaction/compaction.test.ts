import { describe, expect, test } from 'vitest'
import type { ModelMessage } from '../../model/port.ts'
import { withToolResultTexts } from '../../model/tool-results.ts'
import { type JournalRecord, promptMessage, rebuildConversation, toolMessage } from '../conversation.ts'
import { createTokenEstimate } from '../token-estimate.ts'
import { type CompactionChoice, chooseCompaction } from './choose-compaction.ts'
import { applyCompaction, CLEARED, callsOf, resultsOf, SHORTENED, SUMMARY_PREFIX } from './compaction.ts'
import { serviceSummary } from './summary.ts'

const { measured } = createTokenEstimate('', [])
const person = (text: string) => promptMessage({ text, images: [] })
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
  messages
    .flatMap(resultsOf)
    .map(({ output }) => ('value' in output ? output.value : null) as Record<string, unknown>)
const choose = (messages: ModelMessage[], limit_tokens: number, keep_tail = true) =>
  chooseCompaction(messages, { limit_tokens, tokensOf: measured, keep_tail })

/** The conversation after a choice that needs no summary. */
const applied = (messages: ModelMessage[], choice: CompactionChoice | null) =>
  applyCompaction(messages, {
    clear_through: choice?.clear_through ?? null,
    ...shortening(choice),
    summary: null,
  })
const shortening = (choice: CompactionChoice | null) =>
  choice?.shorten_to == null ? {} : { shorten_to: choice.shorten_to }

test('old results are cleared by tokens, not by number, and each keeps its call, status and path', () => {
  const messages = [
    person('do it'),
    ...step('a', 4_000),
    ...step('b', 50),
    ...step('c', 4_000),
    ...step('d', 1_000),
  ]
  const choice = choose(messages, 10_000)
  expect(choice).toMatchObject({ clear_through: 'c', summarize: null })
  const after = applied(messages, choice)
  const [a, b, c, d] = outputs(after)
  expect(a).toEqual({ status: 'ok', exit_code: 0, path: 'a.ts', note: CLEARED })
  expect(b?.output).toBeDefined()
  expect(c?.note).toBe(CLEARED)
  expect(d?.output).toHaveLength(3_000)
  expect(after.flatMap(callsOf)).toEqual(['a', 'b', 'c', 'd'])
})

/** One response with parallel calls, whose results have about this number of tokens each. */
const parallel = (id: string, ...tokens: number[]): ModelMessage[] => [
  {
    role: 'assistant',
    content: tokens.map((_, i) => ({
      type: 'tool-call',
      toolCallId: `${id}${i}`,
      toolName: 'read',
      input: { path: `${id}${i}.ts` },
    })),
  },
  ...tokens.map((size, i) => {
    const content = `first of ${id}${i}\n${'x'.repeat(3 * size)}\nlast of ${id}${i}\n`
    return toolMessage(
      { id: `${id}${i}`, name: 'read' },
      { status: 'ok', path: `${id}${i}.ts`, content, first_line: 1, last_line: 3, total_lines: 3 },
    )
  }),
]
const textsOf = (messages: ModelMessage[]) =>
  withToolResultTexts(messages, true)
    .flatMap(resultsOf)
    .map(({ output }) => ('value' in output ? String(output.value) : ''))

describe('results that the model has not read', () => {
  test('are not cleared, however many tokens they take, while older ones are', () => {
    const messages = [
      person('do it'),
      ...parallel('a', 5_000, 5_000, 5_000),
      ...parallel('b', 10_000, 10_000, 10_000),
    ]
    const choice = choose(messages, 40_000)
    expect(choice).toMatchObject({ clear_through: 'a2', shorten_to: null, summarize: null })
    expect(applied(messages, choice).slice(-3)).toEqual(messages.slice(-3))
  })

  test('stay when a message of a person follows them', () => {
    const messages = [
      person('do it'),
      ...parallel('a', 20_000),
      ...parallel('b', 5_000, 5_000, 5_000),
      person('also this'),
    ]
    const after = applied(messages, choose(messages, 30_000))
    expect(outputs(after).map(({ note }) => note)).toEqual([CLEARED, undefined, undefined, undefined])
  })

  test('stay when a summary replaces the steps before them', () => {
    const early = Array.from({ length: 100 }, (_, i) => step(`a${i}`, 90)).flat()
    const messages = [person('do it'), ...early, ...parallel('b', 3_000, 3_000)]
    const choice = choose(messages, 12_000)
    expect(choice?.summarize?.keep_from).toBe('b0')
    const summary = { text: 'S', by: 'model' as const, keep_from: 'b0' }
    const after = applyCompaction(messages, {
      clear_through: choice?.clear_through ?? null,
      ...shortening(choice),
      summary,
    })
    expect(after.slice(-3)).toEqual(messages.slice(-3))
  })

  test('are shortened alike when they do not fit together: short ones stay whole, and each long one keeps both ends and a note', () => {
    const messages = [
      person('do it'),
      ...parallel('a', 4_000),
      ...parallel('b', ...Array.from({ length: 11 }, () => 10_000), 20),
    ]
    const choice = choose(messages, 50_000)
    const after = applied(messages, choice)
    expect(measured(after)).toBeLessThan(50_000)
    expect(measured(after)).toBeGreaterThan(35_000)
    const texts = textsOf(after).slice(1)
    for (const [i, text] of texts.slice(0, 11).entries()) {
      expect(text).toMatch(
        new RegExp(
          `^first of b${i}\n.* characters left out .*\nlast of b${i}\n\\[${RegExp.escape(SHORTENED)}\\]$`,
          's',
        ),
      )
      expect(text).toHaveLength(texts[0]?.length ?? 0)
    }
    expect(texts[11]).toBe(textsOf(messages).at(-1))
    // The same journal gives the same bytes, and a further compaction adds no second note.
    expect(applied(messages, choice)).toEqual(after)
    const again = applyCompaction(after, { clear_through: null, shorten_to: 1_000, summary: null })
    expect(textsOf(again)[1]?.split(SHORTENED)).toHaveLength(2)
    expect(measured(again)).toBeLessThan(measured(after))
  })

  test('are shortened even if they are all that there is, and keep their status, failures and instructions', () => {
    const [response, ...results] = parallel('a', 9_000, 9_000) as [ModelMessage, ...ModelMessage[]]
    const instructions = [{ path: 'AGENTS.md', text: 'Rule.', bytes: 5, truncated: false }]
    const failed = toolMessage(
      { id: 'f', name: 'shell' },
      { status: 'error', exit_code: 2, output: 'y'.repeat(27_000), instructions, note: 'Again.' },
    )
    const messages = [person('do it'), response, ...results, failed]
    const choice = choose(messages, 20_000)
    expect(choice).toMatchObject({ clear_through: null, summarize: null, shorten_to: expect.any(Number) })
    const after = applied(messages, choice)
    expect(outputs(after).at(-1)).toMatchObject({
      status: 'error',
      exit_code: 2,
      instructions,
      note: `${SHORTENED} Again.`,
    })
    expect(textsOf(after).at(-1)).toMatch(/^y+\n… .*\ny+\n\[Exit code 2\.\]\n.*\nRule\.\n.* Again\.\]$/s)
    expect(measured(after)).toBeLessThan(20_000)
  })
})

test('a result that contains the note of a cleared one is cleared like any other', () => {
  const text = `${CLEARED}\n${'x'.repeat(9_000)}`
  const messages = [
    call('s', 'read', { path: 'a' }),
    toolMessage({ id: 's', name: 'read' }, { status: 'ok', path: 'a', content: text }),
    ...step('b', 9),
  ]
  expect(outputs(applyCompaction(messages, { clear_through: 's', summary: null }))[0]).toEqual({
    status: 'ok',
    path: 'a',
    note: CLEARED,
  })
})

test('a cleared search keeps the paths of its matches', () => {
  const matches = ['a.ts:1:x', 'a.ts:2:x', 'b.ts:3:x', `long:${'x'.repeat(3_000)}`]
  const messages = [
    call('s', 'search', { pattern: 'x' }),
    toolMessage({ id: 's', name: 'search' }, { status: 'ok', matches }),
  ]
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
  const after = applyCompaction(messages, {
    clear_through: null,
    summary: { text: 'SUMMARY', by: 'model', keep_from },
  })
  expect(after.slice(0, 1)).toEqual([person('first')])
  expect(after.filter(message => JSON.stringify(message).includes('SUMMARY'))).toHaveLength(1)
  expect(after.slice(-5)).toEqual([person('second'), ...last])
  expect(after.flatMap(callsOf)).toEqual(outputsOf(after))
})

const outputsOf = (messages: ModelMessage[]) =>
  messages.flatMap(resultsOf).map(({ toolCallId }) => toolCallId)

test('the last step with all its parallel results stays together, however large it is', () => {
  const early = Array.from({ length: 80 }, (_, i) => step(`a${i}`, 90)).flat()
  const choice = choose([person('go'), ...early, ...parallel('p', 4_000, 4_000, 4_000)], 8_000)
  expect(choice).toMatchObject({
    clear_through: null,
    shorten_to: expect.any(Number),
    summarize: { keep_from: 'p0' },
  })
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
        {
          kind: 'model_answered',
          turn: 1,
          messages: [call],
          tool_calls: [{ id, name: 'shell', input: {} }],
          tokens: 5,
        },
        { kind: 'tool_finished', turn: 1, call_id: id, message: result },
        ...(notice
          ? [{ kind: 'message' as const, turn: 1, messages: [{ role: 'user' as const, content: 'near' }] }]
          : []),
      ]
    }),
    {
      kind: 'compacted',
      turn: 1,
      compaction: { ...compaction, summary: { text: 'S', by: 'model', keep_from: 'b' } },
      tokens: 70,
    },
  ]
  const conversation = rebuildConversation(records(true), 1)
  expect(conversation).toMatchObject({
    turn_tokens: 80,
    refused: { model: 'm', limit_tokens: 900 },
    counted: null,
  })
  expect([...conversation.call_ids]).toEqual(['a', 'b'])
  const forked = rebuildConversation(records(false), 2).messages
  expect(forked).toEqual(conversation.messages.filter(({ content }) => content !== 'near'))
  expect(forked.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'tool'])
})
