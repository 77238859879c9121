import { describe, expect, test } from 'vitest'
import { failureOf, limitOf, PROTOCOLS, request } from '../protocols.ts'
import { forbidOutput } from '../silence.ts'

forbidOutput()

/** How servers and gateways wrap the text of a refusal. */
const BODIES: { name: string; status?: number; body(message: string): unknown }[] = [
  {
    name: 'SGLang, and vLLM up to 0.9',
    body: message => ({ object: 'error', message, type: 'BadRequestError', param: null, code: 400 }),
  },
  {
    name: 'vLLM from 0.10',
    body: message => ({
      error: { message: `${message} None`, type: 'BadRequestError', param: null, code: 400 },
    }),
  },
  {
    name: 'text-generation-inference',
    status: 422,
    body: message => ({ error: message, error_type: 'validation' }),
  },
  { name: 'xAI', body: message => ({ code: 'Client specified an invalid argument', error: message }) },
  {
    name: 'Cerebras',
    body: message => ({
      message,
      type: 'invalid_request_error',
      param: 'messages',
      code: 'wrong_api_format',
      id: '',
    }),
  },
  { name: 'FastAPI', body: message => ({ detail: message }) },
  {
    name: 'FastAPI, a field',
    status: 422,
    body: msg => ({ detail: [{ type: 'value_error', loc: ['body', 'max_tokens'], msg, input: 1 }] }),
  },
  {
    name: 'Mistral',
    body: msg => ({
      object: 'error',
      message: { detail: [{ loc: ['body', 'max_tokens'], msg }] },
      code: '3051',
    }),
  },
  {
    name: "Gemini's chat completions",
    body: message => [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }],
  },
  {
    name: 'OpenRouter',
    body: message => ({
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          raw: JSON.stringify({ error: { message, type: 'invalid_request_error' } }),
          provider_name: 'Crucible',
          is_byok: false,
        },
      },
      user_id: 'user_1',
    }),
  },
  {
    name: 'OpenRouter, text',
    body: message => ({
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: message, provider_name: 'DeepInfra' },
      },
    }),
  },
  {
    name: 'a gateway that quotes the body of the provider',
    body: message => ({
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: JSON.stringify({
          type: 'error',
          error: { type: 'invalid_request_error', message },
          request_id: 'req_vrtx_1',
        }),
      },
    }),
  },
  {
    name: 'LiteLLM',
    body: message => ({
      error: {
        message: `litellm.BadRequestError: OpenAIException - ${message}`,
        type: null,
        param: null,
        code: '400',
      },
    }),
  },
  { name: 'text', body: message => `${message}\n` },
]

describe.each(PROTOCOLS)('$name, a refusal in another form than its own', protocol => {
  test.each(BODIES)('$name: its limit is learned', async ({ status = 400, body }) => {
    const message = (n: number) =>
      `max_tokens: ${n} > 8192, which is the maximum allowed number of output tokens for claude-x`
    await using fake = await protocol.connect(seen =>
      limitOf(seen) > 8_192 ? { status, body: body(message(limitOf(seen))) } : { text: 'ok' },
    )
    expect((await fake.model.call(request({ max_output_tokens: 48_000 }))).text).toBe('ok')
    expect(fake.server.requests.map(limitOf)).toEqual([48_000, 8_192])
    expect(fake.model.max_output_tokens).toBe(8_192)
  })

  test.each(BODIES)('$name: its text and status become the error', async ({ name, body }) => {
    await using fake = await protocol.connect(() => ({ status: 400, body: body('No model of this name.') }))
    const failure = await failureOf(fake.model.call(request({ max_output_tokens: 48_000 })))
    expect(failure, name).toMatchObject({
      code: 'rejected',
      http_status: 400,
      message: expect.stringContaining('No model of this name.'),
    })
    expect(failure.message).not.toMatch(/[{}]|Provider returned error/)
  })
})
