import { createServer } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { createModelCatalog } from '../../src/model/catalog.ts'
import { sse } from './fake-server.ts'
import {
  ANTHROPIC,
  COMPATIBLE,
  failureOf,
  GOOGLE,
  KEY,
  OPENAI,
  PROTOCOLS,
  type Protocol,
  prompt,
  request,
} from './protocols.ts'
import { forbidOutput } from './silence.ts'

forbidOutput()

/** An error in the format of the provider; `code` is OpenAI's machine-readable one. */
function errorBody(protocol: Protocol, status: number, message: string, code = 'some_code'): unknown {
  if (protocol === ANTHROPIC) return { type: 'error', error: { type: code, message } }
  if (protocol === GOOGLE) return { error: { code: status, message, status: 'INVALID_ARGUMENT' } }
  return { error: { message, type: 'error', param: null, code } }
}

const SECRET_PROMPT = 'the-secret-of-the-prompt'
const requestWith = (more: Parameters<typeof request>[0] = {}) =>
  request({ messages: [prompt(SECRET_PROMPT)], ...more })

describe.each(PROTOCOLS)('$name responds with a status', protocol => {
  test.each([
    [401, 'auth', false],
    [403, 'auth', false],
    [400, 'rejected', false],
    [404, 'rejected', false],
    [422, 'rejected', false],
    [307, 'rejected', false],
    [408, 'unavailable', true],
    [429, 'rate_limited', true],
    [500, 'unavailable', true],
    [502, 'unavailable', true],
    [503, 'unavailable', true],
    [529, 'unavailable', true],
  ] as const)('%i: %s, and receives one request', async (status, code, retryable) => {
    const headers = { location: 'http://127.0.0.1:1/elsewhere' }
    await using fake = await protocol.connect(() => ({
      status,
      headers,
      body: errorBody(protocol, status, `No: ${KEY}\nbecause.`),
    }))
    const failure = await failureOf(fake.model.call(requestWith()))
    expect(failure).toMatchObject({
      code,
      retryable,
      http_status: status,
      retry_after_ms: null,
      message: 'No: [key] because.',
    })
    expect(fake.server.requests).toHaveLength(1)
    expect(
      JSON.stringify(failure, Object.getOwnPropertyNames(failure)) + String(failure.cause ?? ''),
    ).not.toMatch(new RegExp(`${KEY}|${SECRET_PROMPT}`))
  })

  test('an error page that is not JSON, and one without end', async () => {
    await using fake = await protocol.connect((_seen, n) => ({
      status: 502,
      body: n === 0 ? '<html>bad gateway</html>' : 'x'.repeat(3_000_000),
    }))
    for (let n = 0; n < 2; n++) {
      const failure = await failureOf(fake.model.call(requestWith()))
      expect(failure).toMatchObject({ code: 'unavailable', http_status: 502, message: 'Bad Gateway' })
    }
  })

  test.each([
    ['nothing', {}],
    ['nothing readable', { error: { message: null, details: [{}, [], 7] } }],
    ['lists without end', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['JSON in JSON', [...Array(12)].reduce(text => JSON.stringify({ error: text }), '')],
  ])('a body with %s has no text', async (_name, body) => {
    await using fake = await protocol.connect(() => ({ status: 400, body }))
    expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({
      code: 'rejected',
      message: 'Bad Request',
    })
  })

  test('a long error text is bounded; it is shortened for people when it is redacted', async () => {
    await using fake = await protocol.connect(() => ({
      status: 400,
      body: errorBody(protocol, 400, 'long '.repeat(10_000)),
    }))
    expect((await failureOf(fake.model.call(requestWith()))).message.length).toBeLessThan(17_000)
  })

  test.each([
    ['prompt is too long: 250000 tokens > 200000 maximum', 400],
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      400,
    ],
    ['The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).', 400],
    ['Your input exceeds the context window of this model. Please adjust your input and try again.', 400],
    ['the request exceeds the available context size, try increasing it', 400],
    ['Request too large: prompt is too long', 413],
    ['Please reduce the length of the messages or completion.', 400],
    ['tokens in request more than max tokens allowed', 400],
  ])('%j is a full context', async (message, status) => {
    await using fake = await protocol.connect(() => ({ status, body: errorBody(protocol, status, message) }))
    expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({
      code: 'context_exceeded',
      retryable: false,
    })
  })
})

describe('the address of a documentation in a refusal', () => {
  test('about the budget of thinking is not a full context', async () => {
    const message =
      '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size'
    await using fake = await ANTHROPIC.connect(() => ({
      status: 400,
      body: errorBody(ANTHROPIC, 400, message),
    }))
    expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({ code: 'rejected' })
  })

  test('about prices is not an exhausted account', async () => {
    const message =
      'Rate limit reached for model `x` on tokens per minute (TPM): Limit 10000, Used 9000, Requested 5000. Please try again in 7.66s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing'
    await using fake = await COMPATIBLE.connect(() => ({
      status: 429,
      body: errorBody(COMPATIBLE, 429, message, 'rate_limit_exceeded'),
    }))
    expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({
      code: 'rate_limited',
      retryable: true,
    })
  })
})

describe('the delay that the provider requests before a retry', () => {
  test.each([
    ['seconds', { 'retry-after': '7' }, 7_000, 7_000],
    ['milliseconds', { 'retry-after-ms': '1250', 'retry-after': '2' }, 1_250, 1_250],
    ['nothing to wait', { 'retry-after': '0' }, 0, 0],
    ['a date', { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }, 3_500_000, 3_600_000],
    ['a date gone by', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0, 0],
    ['more than a day', { 'retry-after': '99999999' }, 86_400_000, 86_400_000],
  ])('%s', async (_name, headers, least, most) => {
    await using fake = await COMPATIBLE.connect(() => ({
      status: 429,
      headers,
      body: errorBody(COMPATIBLE, 429, 'slow down'),
    }))
    const { retry_after_ms: wait } = await failureOf(fake.model.call(requestWith()))
    expect(wait).toBeGreaterThanOrEqual(least)
    expect(wait).toBeLessThanOrEqual(most)
  })

  test('an invalid delay is ignored', async () => {
    await using fake = await COMPATIBLE.connect(() => ({
      status: 429,
      headers: { 'retry-after': 'soon' },
      body: errorBody(COMPATIBLE, 429, 'slow down'),
    }))
    expect((await failureOf(fake.model.call(requestWith()))).retry_after_ms).toBeNull()
  })

  test('Google sends it in the body', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }]
    await using fake = await GOOGLE.connect(() => ({
      status: 429,
      body: { error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED', details } },
    }))
    expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({
      code: 'rate_limited',
      retry_after_ms: 34_500,
    })
  })

  test('a wrong key of Google comes with status 400', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }]
    const body = {
      error: {
        code: 400,
        message: 'API key not valid. Please pass a valid API key.',
        status: 'INVALID_ARGUMENT',
        details,
      },
    }
    await using fake = await GOOGLE.connect(() => ({ status: 400, body }))
    expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({ code: 'auth', http_status: 400 })
  })

  test('an exhausted account is not retryable', async () => {
    await using fake = await OPENAI.connect(() => ({
      status: 429,
      body: errorBody(OPENAI, 429, 'You exceeded your current quota', 'insufficient_quota'),
    }))
    expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({
      code: 'rate_limited',
      retryable: false,
    })
    await using gateway = await COMPATIBLE.connect(() => ({
      status: 402,
      body: errorBody(COMPATIBLE, 402, 'Insufficient credits'),
    }))
    expect(await failureOf(gateway.model.call(requestWith()))).toMatchObject({
      code: 'rate_limited',
      retryable: false,
      http_status: 402,
    })
  })
})

test('a closed port, and a server that hangs up, are unavailable', async () => {
  const server = createServer(socket => socket.destroy())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const base_url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`
  const call = () =>
    failureOf(
      createModelCatalog({ default_model: null, openai_compatible: { base_url } })
        .get('openai-compatible/x')
        ?.call(requestWith()) ?? Promise.resolve(),
    )
  expect(await call()).toMatchObject({ code: 'unavailable', retryable: true, http_status: null })
  await new Promise(resolve => server.close(resolve))
  expect(await call()).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('ECONNREFUSED'),
  })
})

describe('an error in the middle of a stream', () => {
  const words = (protocol: Protocol) => protocol.events({ text: 'some words' }).slice(0, 5)
  test.each([
    [
      'Anthropic overloaded',
      ANTHROPIC,
      sse({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error'),
      'unavailable',
    ],
    [
      'Anthropic rate limit',
      ANTHROPIC,
      sse({ type: 'error', error: { type: 'rate_limit_error', message: 'Slow' } }, 'error'),
      'rate_limited',
    ],
    [
      'OpenAI server error',
      OPENAI,
      sse({ type: 'error', sequence_number: 9, code: 'server_error', message: 'Oops', param: null }, 'error'),
      'unavailable',
    ],
    [
      'OpenAI context',
      OPENAI,
      sse(
        {
          type: 'error',
          sequence_number: 9,
          code: 'context_length_exceeded',
          message: 'Too much',
          param: null,
        },
        'error',
      ),
      'context_exceeded',
    ],
    [
      'Google',
      GOOGLE,
      sse({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
      'unavailable',
    ],
    ['a gateway', COMPATIBLE, sse({ error: { message: 'Upstream failed', code: 502 } }), 'unavailable'],
    [
      'text-generation-inference',
      COMPATIBLE,
      sse({
        error: 'Request failed during generation: Server error: out of memory',
        error_type: 'generation',
      }),
      'unavailable',
    ],
    [
      'OpenRouter with the text of its provider',
      COMPATIBLE,
      sse({
        id: 'gen-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'x',
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
        error: {
          code: 400,
          message: 'Provider returned error',
          metadata: { raw: 'prompt is too long: 250000 tokens > 200000 maximum' },
        },
      }),
      'context_exceeded',
    ],
    [
      'a gateway that limits',
      COMPATIBLE,
      sse({ error: { message: 'Too many', type: 'rate_limit_exceeded', code: 429 } }),
      'rate_limited',
    ],
  ])('%s', async (_name, protocol, error, code) => {
    await using fake = await protocol.connect(() => ({ raw: [...words(protocol), error] }))
    const failure = await failureOf(fake.model.call(requestWith()))
    expect(failure.code, failure.message).toBe(code)
  })

  test('an overload as the first event of a stream is unavailable', async () => {
    await using fake = await ANTHROPIC.connect(() => ({
      raw: [sse({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error')],
    }))
    expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({
      code: 'unavailable',
      http_status: 529,
    })
  })

  test('the failure of an OpenAI response contains its reason', async () => {
    const failed = sse({
      type: 'response.failed',
      sequence_number: 9,
      response: {
        id: 'r',
        error: { code: 'rate_limit_exceeded', message: 'Slow down' },
        incomplete_details: null,
        usage: null,
      },
    })
    await using fake = await OPENAI.connect(() => ({ raw: [...words(OPENAI), failed] }))
    expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({
      code: 'rate_limited',
      message: 'Slow down',
    })
  })
})

test('a context that fills up in the middle of a response of Claude is context_exceeded', async () => {
  const raw = ANTHROPIC.events({ text: 'x', finish: 'length' }).map(event =>
    event.replace('max_tokens', 'model_context_window_exceeded'),
  )
  await using fake = await ANTHROPIC.connect(() => ({ raw }))
  expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({ code: 'context_exceeded' })
})

test('a hundred failed calls leave no timer, listener or open response behind', async () => {
  const stop = new AbortController()
  await using fake = await COMPATIBLE.connect((_seen, n) =>
    n % 2 === 0 ? { status: 500, body: {} } : { raw: ['data: {nonsense\n\n'] },
  )
  const listen = vi.spyOn(stop.signal, 'addEventListener')
  const unlisten = vi.spyOn(stop.signal, 'removeEventListener')
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = timers()
  for (let n = 0; n < 100; n++) await failureOf(fake.model.call(requestWith({ signal: stop.signal })))
  await Promise.all(fake.server.requests.map(seen => seen.closed))
  expect(timers()).toBeLessThanOrEqual(before + 2)
  expect(unlisten.mock.calls.length).toBe(listen.mock.calls.length)
})
