import { expect, it } from 'vitest'
import { GatewayRefusal } from './gateway-refusal.ts'
import { safeBeta, safeBody, textBytes } from './safe-body.ts'

it('keeps what a model reads and writes, and drops what refers to other models, prices and stored objects', () => {
  const chat = {
    model: 'm',
    messages: [],
    temperature: 1,
    models: ['other'],
    service_tier: 'priority',
    store: true,
    plugins: [{ id: 'web' }],
  }
  expect(safeBody('openai-chat', chat).body).toEqual({ model: 'm', messages: [], temperature: 1 })
  const responses = {
    model: 'm',
    input: 'Hello',
    previous_response_id: 'r',
    conversation: 'c',
    prompt: { id: 'p' },
  }
  expect(safeBody('openai-responses', responses).body).toEqual({ model: 'm', input: 'Hello' })
  expect(safeBody('anthropic-messages', { messages: [], mcp_servers: [{}], container: 'c' }).body).toEqual({
    messages: [],
  })
  expect(
    safeBody('google-generate-content', { contents: [], cachedContent: 'c', generation_config: {} }).body,
  ).toEqual({ contents: [] })
})

it.each([
  ['openai-responses', { input: [{ type: 'additional_tools', tools: { type: 'web_search' } }] }],
  [
    'openai-chat',
    {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://other.test/?secret' } }] },
      ],
    },
  ],
  [
    'openai-responses',
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'http://169.254.169.254/' }] }] },
  ],
  ['openai-responses', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] }],
  [
    'anthropic-messages',
    {
      messages: [
        { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://other.test' } }] },
      ],
    },
  ],
  ['google-generate-content', { contents: [{ parts: [{ fileData: { fileUri: 'gs://bucket/file' } }] }] }],
  [
    'google-generate-content',
    {
      contents: [
        {
          parts: [
            { functionResponse: { parts: [{ fileData: { fileUri: 'https://other.test' } }], response: {} } },
          ],
        },
      ],
    },
  ],
] as const)('refuses what the provider would reach or has stored: %s %j', (api, body) => {
  expect(() => safeBody(api, body)).toThrow(GatewayRefusal)
})

it('permits tools of the program that are grouped, or parts of the conversation', () => {
  const tools = [{ type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] }]
  expect(() =>
    safeBody('openai-responses', { tools, input: [{ type: 'additional_tools', role: 'developer', tools }] }),
  ).not.toThrow()
})

it('permits data URLs, and addresses in the arguments and results of tools', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  const call = {
    role: 'assistant',
    tool_calls: [{ function: { name: 'fetch', arguments: '{"url":"https://other.test"}' } }],
  }
  expect(() =>
    safeBody('openai-chat', { messages: [{ role: 'user', content: [image] }, call] }),
  ).not.toThrow()
  const use = { type: 'tool_use', id: 't', name: 'fetch', input: { url: 'https://other.test' } }
  expect(() =>
    safeBody('anthropic-messages', { messages: [{ role: 'assistant', content: [use] }] }),
  ).not.toThrow()
  const part = { functionCall: { name: 'fetch', args: { url: 'https://other.test' } } }
  const result = { functionResponse: { name: 'fetch', response: { url: 'https://other.test' } } }
  expect(() => safeBody('google-generate-content', { contents: [{ parts: [part, result] }] })).not.toThrow()
})

it('refuses a request that is nested too deeply', () => {
  const deep = Array.from({ length: 10_000 }).reduce<unknown>(inner => ({ content: [inner] }), {})
  expect(() => safeBody('openai-chat', { messages: deep })).toThrow(/nested/)
})

it('counts a picture by what it costs, not by the length of its base64', () => {
  const data = `data:image/png;base64,${'A'.repeat(1_000_000)}`
  const bytes = textBytes({ messages: [{ content: [{ type: 'image_url', image_url: { url: data } }] }] })
  expect(bytes).toBeGreaterThan(6_000)
  expect(bytes).toBeLessThan(7_000)
  expect(textBytes({ messages: [{ content: 'a'.repeat(50_000) }] })).toBeGreaterThan(50_000)
})

const base64 = 'A'.repeat(100_000)
const picture = { type: 'base64', media_type: 'image/png', data: base64 }

it.each([
  { messages: [{ content: [{ type: 'image', source: picture }] }] },
  { messages: [{ content: [{ type: 'tool_result', content: [{ type: 'image', source: picture }] }] }] },
  { input: [{ content: [{ type: 'input_image', image_url: `data:image/jpeg;base64,${base64}` }] }] },
  { contents: [{ parts: [{ inlineData: { mimeType: 'image/webp', data: base64 } }] }] },
  {
    contents: [
      {
        parts: [{ functionResponse: { parts: [{ inline_data: { mime_type: 'image/png', data: base64 } }] } }],
      },
    ],
  },
])('counts a picture of each wire format as one: case %#', body => {
  expect(textBytes(body)).toBeLessThan(7_000)
})

it.each([
  {
    messages: [
      { content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: base64 } }] },
    ],
  },
  {
    messages: [
      {
        content: [
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: base64 } },
        ],
      },
    ],
  },
  { messages: [{ content: [{ type: 'document', source: { ...picture, type: 'text' } }] }] },
  { messages: [{ content: [{ type: 'image', source: { ...picture, data: `${base64} and text` } }] }] },
  { messages: [{ content: [{ type: 'image', source: { ...picture, mime_type: 'text/plain' } }] }] },
  { messages: [{ content: [{ type: 'tool_use', input: picture }] }] },
  { messages: [], tools: [{ name: 'f', input_schema: { default: picture } }] },
  { contents: [{ parts: [{ inlineData: { mimeType: 'text/plain', data: base64 } }] }] },
  { contents: [{ parts: [{ inlineData: { mimeType: 'video/mp4', data: base64 } }] }] },
  { contents: [{ parts: [{ functionResponse: { response: { mimeType: 'image/png', data: base64 } } }] }] },
  {
    messages: [{ content: [{ type: 'file', file: { file_data: `data:application/pdf;base64,${base64}` } }] }],
  },
  {
    messages: [{ content: [{ type: 'image_url', image_url: { url: `data:text/plain;base64,${base64}` } }] }],
  },
  { messages: [{ content: [{ type: 'text', data: base64 }] }] },
])('counts with its length what is not a picture, though it is written like one: case %#', body => {
  expect(textBytes(body)).toBeGreaterThan(100_000)
})

it('forwards the beta features that change neither price nor reach', () => {
  expect(safeBeta('web-fetch-2025-09-10, interleaved-thinking-2025-05-14,mcp-client-2025-04-04')).toBe(
    'interleaved-thinking-2025-05-14',
  )
})
