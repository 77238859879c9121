import { describe, expect, test } from 'vitest'
import {
  ANTHROPIC,
  COMPATIBLE,
  failureOf,
  GOOGLE,
  OPENAI,
  PROTOCOLS,
  type Protocol,
  request,
} from './protocols.ts'

// What gateways and servers of open models leave out, repeat or put elsewhere. None of it may decide whether
// a response counts.

const DONE = 'data: [DONE]\n\n'
const data = (event: unknown) => `data: ${JSON.stringify(event)}\n\n`

async function answer(protocol: Protocol, raw: string[]) {
  await using fake = await protocol.connect(() => ({ raw }))
  const response = await fake.model.call(request())
  expect(fake.server.requests).toHaveLength(1)
  return response
}

const GREETING = { text: 'Hi.', tool_calls: [], finish_reason: 'stop' }
const called = (name = 'shell') => ({
  text: '',
  tool_calls: [{ name, input: { command: 'ls' } }],
  finish_reason: 'tool_calls',
})

describe('chat completions', () => {
  const chunk = (delta: unknown, finish_reason: unknown = null, more = {}) =>
    data({ choices: [{ index: 0, delta, finish_reason }], ...more })
  const call = (given: object, fields: object = { index: 0, id: 'a' }) => ({
    tool_calls: [{ ...fields, type: 'function', function: { arguments: '{"command":"ls"}', ...given } }],
  })
  const END = [chunk({}, 'tool_calls'), DONE]

  test.each([
    ['without a name', [chunk(call({})), ...END], 'unnamed'],
    ['with null as its name', [chunk(call({ name: null })), ...END], 'unnamed'],
    ['without a name and without a reason', [chunk(call({})), DONE], 'unnamed'],
    ['with a blank name and without an id', [chunk(call({ name: ' ' }, { index: 0 })), ...END], 'unnamed'],
    [
      'whose name comes later',
      [chunk(call({ arguments: '' })), chunk(call({ name: 'shell' }, { index: 0 })), ...END],
      'shell',
    ],
    ['with an index as text', [chunk(call({ name: 'shell' }, { index: '0', id: 'a' })), ...END], 'shell'],
    [
      'that is not in a list',
      [chunk({ tool_calls: call({ name: 'shell' }).tool_calls[0] }), ...END],
      'shell',
    ],
    ['with its number', [chunk(call({ name: 'functions.shell:0' })), ...END], 'shell'],
    ['with a part of a template', [chunk(call({ name: 'shell<|channel|>commentary' })), ...END], 'shell'],
    ['in another case', [chunk(call({ name: 'Shell' })), ...END], 'shell'],
  ])('a call %s is a call', async (_name, raw, name) => {
    expect(await answer(COMPATIBLE, raw)).toMatchObject(called(name))
  })

  test('two calls with the same index are two calls', async () => {
    const calls = ['a', 'b'].map(id => chunk(call({ name: 'shell' }, { index: 0, id })))
    expect((await answer(COMPATIBLE, [...calls, ...END])).tool_calls.map(({ id }) => id)).toEqual(['a', 'b'])
  })

  test.each([
    [
      'a message instead of a delta',
      [data({ choices: [{ message: { content: 'Hi.' }, finish_reason: 'stop' }] }), DONE],
    ],
    ['a reason in capitals', [chunk({ content: 'Hi.' }), chunk({}, 'STOP'), DONE]],
    [
      'usage as the end',
      [chunk({ content: 'Hi.' }), data({ choices: [], usage: { prompt_tokens: 2, completion_tokens: 3 } })],
    ],
    [
      'usage with lists',
      [chunk({ content: 'Hi.' }, 'stop', { usage: { prompt_tokens: 2, prompt_tokens_details: [] } }), DONE],
    ],
    [
      'usage with other types',
      [chunk({ content: 'Hi.' }, 'stop', { usage: { completion_tokens_details: 7, service_tier: 4 } }), DONE],
    ],
  ])('%s is read', async (_name, raw) => {
    expect(await answer(COMPATIBLE, raw)).toMatchObject(GREETING)
  })

  test('usage in a choice counts', async () => {
    const choices = [
      {
        delta: { content: 'Hi.' },
        finish_reason: 'stop',
        usage: { prompt_tokens: 12, completion_tokens: 3 },
      },
    ]
    expect((await answer(COMPATIBLE, [data({ choices }), DONE])).usage).toMatchObject({
      input_tokens: 12,
      output_tokens: 3,
    })
  })

  test('usage with each event ends nothing: a stream that breaks off is malformed', async () => {
    const raw = [chunk({ content: 'Hi.' }, null, { usage: { prompt_tokens: 1, completion_tokens: 1 } })]
    await using fake = await COMPATIBLE.connect(() => ({ raw }))
    expect(await failureOf(fake.model.call(request()))).toMatchObject({ code: 'malformed', retryable: true })
  })
})

describe('messages of Claude', () => {
  const start = (message: unknown = { usage: { input_tokens: 10, output_tokens: 1 } }) =>
    data({ type: 'message_start', message })
  const block = (content_block: unknown, delta: unknown, index: unknown = 0) =>
    [
      data({ type: 'content_block_start', index, content_block }),
      ...(delta === null ? [] : [data({ type: 'content_block_delta', index, delta })]),
      data({ type: 'content_block_stop', index }),
    ].join('')
  const end = (delta: unknown = { stop_reason: 'end_turn' }, usage: unknown = { output_tokens: 5 }) =>
    data({ type: 'message_delta', delta, usage }) + data({ type: 'message_stop' })
  const HI = block({ type: 'text', text: '' }, { type: 'text_delta', text: 'Hi.' })

  test.each([
    [
      'a block without a text',
      [start(), block({ type: 'text' }, { type: 'text_delta', text: 'Hi.' }), end()],
    ],
    ['a text in the start of a block', [start(), block({ type: 'text', text: 'Hi.' }, null), end()]],
    [
      'blocks without an index',
      [start(), block({ type: 'text', text: '' }, { type: 'text_delta', text: 'Hi.' }, undefined), end()],
    ],
    [
      'an index as text',
      [start(), block({ type: 'text', text: '' }, { type: 'text_delta', text: 'Hi.' }, '0'), end()],
    ],
    ['a message without anything', [start(undefined), HI, end()]],
    [
      'null everywhere',
      [start({ id: null, model: null, usage: null }), HI, end({ stop_reason: 'end_turn' }, null)],
    ],
    [
      'an unknown event with the name of a known field',
      [start(), data({ type: 'mystery', content_block: 3 }), HI, end()],
    ],
    ['an event without a type', [start(), data({ message: 'x' }), HI, end()]],
    ['no reason', [start(), HI, end({ stop_reason: null })]],
    ['no delta of the message', [start(), HI, data({ type: 'message_stop' })]],
  ])('%s is read', async (_name, raw) => {
    expect(await answer(ANTHROPIC, raw)).toMatchObject(GREETING)
  })

  test('usage with lists, texts and other types counts what it states', async () => {
    const usage = {
      input_tokens: '10.2',
      cache_creation: { ephemeral_5m_input_tokens: '3', x: [] },
      service_tier: 7,
    }
    const raw = [
      start({ usage }),
      HI,
      end(undefined, { output_tokens: '7.9', iterations: [{ input_tokens: 'x' }] }),
    ]
    expect((await answer(ANTHROPIC, raw)).usage).toMatchObject({ input_tokens: 10, output_tokens: 8 })
  })

  test.each([undefined, null, ''])('a call with the input %j, which comes in parts', async input => {
    const delta = { type: 'input_json_delta', partial_json: '{"command":"ls"}' }
    expect(
      await answer(ANTHROPIC, [
        start(),
        block({ type: 'tool_use', id: 't', name: 'shell', input }, delta),
        end(),
      ]),
    ).toMatchObject(called())
    expect(
      await answer(ANTHROPIC, [start(), block({ type: 'tool_use', input }, delta), end()]),
    ).toMatchObject(called('unnamed'))
  })

  test('a thought without its field stays a thought', async () => {
    const raw = [
      start(),
      block({ type: 'thinking' }, { type: 'thinking_delta', thinking: 'Hm.' }),
      HI.replaceAll('"index":0', '"index":1'),
      end(),
    ]
    expect(await answer(ANTHROPIC, raw)).toMatchObject({ ...GREETING, reasoning: 'Hm.' })
  })
})

describe('generateContent', () => {
  const content = { parts: [{ text: 'Hi.' }] }
  test.each([
    [
      'usage with details as text',
      {
        usageMetadata: {
          promptTokenCount: '5',
          promptTokensDetails: [{ modality: 'TEXT', tokenCount: '3' }],
        },
      },
    ],
    [
      'usage with null and other types',
      { usageMetadata: { totalTokenCount: null, trafficType: 4, cacheTokensDetails: 'none' } },
    ],
    ['feedback of another form', { promptFeedback: { safetyRatings: 'none' } }],
  ])('%s is read', async (_name, more) => {
    expect(
      await answer(GOOGLE, [data({ candidates: [{ content, finishReason: 'STOP' }], ...more })]),
    ).toMatchObject(GREETING)
  })

  test('ratings and sources of another form are left out', async () => {
    const candidate = {
      content,
      finishReason: 'STOP',
      safetyRatings: [{ category: 4 }],
      groundingMetadata: 3,
      citationMetadata: [],
    }
    expect(await answer(GOOGLE, [data({ candidates: [candidate] })])).toMatchObject(GREETING)
  })
})

describe('responses', () => {
  const created = (response: unknown = { id: 'r', created_at: 1, model: 'x' }) =>
    data({ type: 'response.created', response })
  const completed = data({
    type: 'response.completed',
    response: { usage: { input_tokens: 3, output_tokens: 2 } },
  })
  const item = (of: object, types = ['added', 'done']) =>
    types.map(type => data({ type: `response.output_item.${type}`, output_index: 0, item: of })).join('')
  const message = {
    id: 'i',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Hi.', annotations: null }],
  }
  const delta = data({ type: 'response.output_text.delta', item_id: 'i', delta: 'Hi.', logprobs: 'none' })

  test.each([
    [
      'a response without fields',
      [created({}), item(message, ['added']), delta, item(message, ['done']), completed],
    ],
    [
      'an item without a type',
      [created(), item({ id: 'z' }), item(message, ['added']), delta, item(message, ['done']), completed],
    ],
    ['a text at the end of its item', [created(), item(message), completed]],
    ['an item that only ends', [created(), item(message, ['done']), completed]],
  ])('%s is read', async (_name, raw) => {
    expect(await answer(OPENAI, raw)).toMatchObject(GREETING)
  })

  test.each([
    ['without a status', {}],
    ['with null as its status', { status: null }],
    ['without the id of the call', { call_id: undefined }],
    ['with arguments as an object', { arguments: { command: 'ls' } }],
  ])('a call %s is a call', async (_name, more) => {
    const call = {
      id: 'f',
      type: 'function_call',
      call_id: 'k',
      name: 'shell',
      arguments: '{"command":"ls"}',
      ...more,
    }
    expect(await answer(OPENAI, [created(), item(call), completed])).toMatchObject(called())
  })
})

test.each(PROTOCOLS)(
  '$name: a body that begins like no event stream is named by its content type',
  async protocol => {
    for (const [type, body] of [
      ['text/plain', 'upstream connect error'],
      ['text/html', 'Sign in <b>now</b>'],
      ['text/html', ''],
    ] as const) {
      await using fake = await protocol.connect(() => ({
        status: 200,
        headers: { 'content-type': type },
        body,
      }))
      expect(await failureOf(fake.model.call(request()))).toMatchObject({
        message: expect.stringContaining(`responded with ${type}`),
      })
    }
  },
)
