import { expect, it } from 'vitest'
import { createUsageReader } from './usage-reader.ts'

const sse = (...events: unknown[]) => events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')

/** Feeds a response byte by byte. */
function usageOf(api: Parameters<typeof createUsageReader>[0], stream: boolean, text: string) {
  const reader = createUsageReader(api, stream)
  for (const byte of Buffer.from(text)) reader.add(Uint8Array.of(byte))
  return reader.usage()
}

it('reads the usage of each wire format from a stream, the tokens of the cache included', () => {
  const chat = {
    usage: { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 60 } },
  }
  expect(
    usageOf(
      'openai-chat',
      true,
      `${sse({ choices: [{ delta: { content: 'é "usage" ' } }] }, chat)}data: [DONE]\n\n`,
    ),
  ).toEqual({
    input_tokens: 100,
    output_tokens: 7,
    cached_tokens: 60,
    cache_write_tokens: 0,
  })
  const responses = {
    type: 'response.completed',
    response: { usage: { input_tokens: 9, output_tokens: 3, input_tokens_details: { cached_tokens: 4 } } },
  }
  expect(
    usageOf(
      'openai-responses',
      true,
      sse({ type: 'response.created', response: { usage: null } }, responses),
    ),
  ).toEqual({
    input_tokens: 9,
    output_tokens: 3,
    cached_tokens: 4,
    cache_write_tokens: 0,
  })
  const start = {
    type: 'message_start',
    message: {
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 200,
        cache_creation_input_tokens: 30,
        output_tokens: 1,
      },
    },
  }
  expect(
    usageOf('anthropic-messages', true, sse(start, { type: 'message_delta', usage: { output_tokens: 55 } })),
  ).toEqual({
    input_tokens: 240,
    output_tokens: 55,
    cached_tokens: 200,
    cache_write_tokens: 30,
  })
  const google = {
    usageMetadata: {
      promptTokenCount: 50,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 8,
      cachedContentTokenCount: 20,
    },
  }
  expect(usageOf('google-generate-content', true, sse(google))).toEqual({
    input_tokens: 50,
    output_tokens: 13,
    cached_tokens: 20,
    cache_write_tokens: 0,
  })
})

it('reports no usage for a stream of Anthropic that ends before its output is counted', () => {
  const start = { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } }
  const text = { type: 'content_block_delta', delta: { text: 'Hello' } }
  expect(usageOf('anthropic-messages', true, sse(start, text))).toBeNull()
  expect(
    usageOf(
      'anthropic-messages',
      true,
      sse(start, text, { type: 'error', error: { type: 'overloaded_error' } }),
    ),
  ).toBeNull()
})

it('reads the usage of a response without a stream', () => {
  const body = JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } })
  expect(usageOf('openai-chat', false, body)).toMatchObject({ input_tokens: 3, output_tokens: 2 })
})

it('reports no usage for what has none or cannot be parsed', () => {
  expect(usageOf('openai-chat', true, sse({ choices: [] }))).toBeNull()
  expect(usageOf('openai-chat', true, 'data: {"usage": broken\n\n')).toBeNull()
  expect(usageOf('openai-chat', false, 'not JSON')).toBeNull()
})

it.each([
  ['openai-chat', { usage: { prompt_tokens: null, completion_tokens: null } }],
  ['openai-chat', { usage: { prompt_tokens: -5, completion_tokens: 'many' } }],
  ['openai-chat', { usage: { prompt_tokens: 5 } }],
  ['openai-chat', { usage: { total_tokens: 900 } }],
  ['openai-chat', { usage: [] }],
  ['openai-responses', { response: { usage: {} } }],
  ['openai-responses', { response: { usage: { input_tokens: 7, output_tokens: 'all' } } }],
  ['anthropic-messages', { type: 'message_delta', usage: { output_tokens: 5 } }],
  ['google-generate-content', { usageMetadata: {} }],
  ['google-generate-content', { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 'some' } }],
] as const)('%s reports no usage by %j, so that it is estimated', (api, message) => {
  expect(usageOf(api, true, sse(message))).toBeNull()
})

it('keeps the counts of an earlier message when a later one has none', () => {
  const counted = { usage: { prompt_tokens: 3, completion_tokens: 2 } }
  expect(usageOf('openai-chat', true, sse(counted, { usage: { prompt_tokens: null } }))).toMatchObject({
    input_tokens: 3,
    output_tokens: 2,
  })
})
