import { expect, it } from 'vitest'
import type { ModelEndpoint } from '../model/port.ts'
import { addressOf, bodyFor, headersOf, operationAt, wantedOutput } from './operations.ts'

const endpoint = (api: ModelEndpoint['api']): ModelEndpoint => ({
  api,
  base_url: 'https://provider.test/v1',
  api_key: 'the-key',
  name: 'm-1',
  fetch,
  cost: () => null,
})

it('knows the operations of each wire format, and no other path', () => {
  const chat = operationAt('POST', '/v1/chat/completions')
  expect(chat).toMatchObject({ kind: 'generate', api: 'openai-chat' })
  expect(operationAt('POST', '/v1beta/models/m-1:streamGenerateContent')).toMatchObject({
    kind: 'generate',
    model: 'm-1',
    stream: true,
  })
  expect(operationAt('POST', '/v1/messages/count_tokens')).toMatchObject({
    kind: 'count',
    api: 'anthropic-messages',
  })
  for (const [method, path] of [
    ['GET', '/v1/chat/completions'],
    ['POST', '/v1/chat/completions/../files'],
    ['POST', 'http://other.test/v1/messages'],
    ['POST', '/v1/files'],
    ['POST', '/v1beta/models/a/b:generateContent'],
    ['POST', '//v1/messages'],
  ] as const)
    expect(operationAt(method, path)).toBeNull()
})

it('builds the address from the endpoint alone', () => {
  const at = (api: ModelEndpoint['api'], path: string, stream = true) => {
    const operation = operationAt('POST', path)
    if (operation === null || operation.kind === 'models') throw new Error('no operation')
    return addressOf(endpoint(api), operation, stream)
  }
  expect(at('openai-chat', '/v1/chat/completions')).toBe('https://provider.test/v1/chat/completions')
  expect(at('openai-responses', '/v1/responses')).toBe('https://provider.test/v1/responses')
  expect(at('anthropic-messages', '/v1/messages/count_tokens')).toBe(
    'https://provider.test/v1/messages/count_tokens',
  )
  expect(at('google-generate-content', '/v1beta/models/m-1:streamGenerateContent')).toBe(
    'https://provider.test/v1/models/m-1:streamGenerateContent?alt=sse',
  )
})

it('forwards no header of the program but the versions of the API, and never its key', () => {
  const received = {
    authorization: 'Bearer stolen',
    'x-api-key': 'stolen',
    host: 'other.test',
    'x-forwarded-host': 'other.test',
    'anthropic-beta': 'web-fetch-2025-09-10, prompt-caching-2024-07-31',
  }
  expect(headersOf(endpoint('anthropic-messages'), received)).toEqual({
    'content-type': 'application/json',
    'x-api-key': 'the-key',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'prompt-caching-2024-07-31',
  })
  expect(headersOf(endpoint('openai-chat'), received).authorization).toBe('Bearer the-key')
})

it('limits a response by one field, whichever the program has set', () => {
  const body = bodyFor(endpoint('openai-chat'), { max_tokens: 9, max_completion_tokens: 900 }, false, 500)
  expect(body).toEqual({ model: 'm-1', n: 1, max_completion_tokens: 500 })
})

it('limits the output of each wire format to what was reserved, and requests the usage of a stream', () => {
  expect(bodyFor(endpoint('openai-chat'), { model: 'x', max_tokens: 9_000, n: 50 }, true, 500)).toEqual({
    model: 'm-1',
    max_tokens: 500,
    n: 1,
    stream_options: { include_usage: true },
  })
  expect(bodyFor(endpoint('openai-chat'), { max_completion_tokens: 100 }, false, 500)).toMatchObject({
    max_completion_tokens: 100,
  })
  expect(bodyFor(endpoint('openai-responses'), { store: true }, true, 500)).toMatchObject({
    store: false,
    max_output_tokens: 500,
  })
  expect(bodyFor(endpoint('anthropic-messages'), { max_tokens: 'many' }, true, 500)).toMatchObject({
    max_tokens: 500,
  })
  expect(
    bodyFor(endpoint('google-generate-content'), { generationConfig: { temperature: 1 } }, true, 500),
  ).toMatchObject({
    generationConfig: { temperature: 1, candidateCount: 1, maxOutputTokens: 500 },
  })
  expect(wantedOutput('anthropic-messages', { max_tokens: 800 })).toBe(800)
  expect(wantedOutput('openai-chat', {})).toBe(Number.POSITIVE_INFINITY)
})
