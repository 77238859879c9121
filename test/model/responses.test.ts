import { describe, expect, test } from 'vitest'
import {
  ANTHROPIC,
  COMPATIBLE,
  failureOf,
  GOOGLE,
  goOn,
  KEY,
  OPENAI,
  PROTOCOLS,
  prompt,
  request,
} from './protocols.ts'

const TWO_CALLS = {
  reasoning: 'Let me look at the tests first.',
  text: 'I will look around — “größer” 🙂.',
  tool_calls: [
    { id: 'call_a', name: 'shell', arguments: { command: 'npm test -- --grep "größer 🙂"' } },
    { id: 'call_b', name: 'read', arguments: { path: 'src/ä.ts' } },
  ],
  usage: { input: 1_000, output: 50, cached: 600 },
  split: 3,
}

describe.each(PROTOCOLS)('$name', protocol => {
  test('gives text, reasoning, parallel tool calls in order and usage', async () => {
    await using fake = await protocol.connect(() => TWO_CALLS)
    const deltas: string[] = []
    const response = await fake.model.call(
      request({ on_delta: delta => deltas.push(`${delta.kind}:${delta.text}`) }),
    )
    expect(response).toMatchObject({
      text: TWO_CALLS.text,
      reasoning: TWO_CALLS.reasoning,
      finish_reason: 'tool_calls',
      usage: { input_tokens: 1_000, output_tokens: 50, cached_tokens: 600 },
    })
    expect(response.tool_calls.map(({ name, input }) => ({ name, arguments: input }))).toEqual(
      TWO_CALLS.tool_calls.map(({ id: _id, ...call }) => call),
    )
    expect(response.usage.raw).toBeTypeOf('object')
    const live = (kind: string) =>
      deltas.flatMap(one => (one.startsWith(kind) ? [one.slice(kind.length + 1)] : [])).join('')
    expect({ text: live('text'), reasoning: live('reasoning') }).toEqual({
      text: response.text,
      reasoning: response.reasoning,
    })
    expect(deltas.length).toBeGreaterThan(5)
    expect(fake.server.requests).toHaveLength(1)
  })

  test('replays its own response from JSON, with each result matched to its call', async () => {
    await using fake = await protocol.connect((_seen, n) => (n === 0 ? TWO_CALLS : { text: 'Done.' }))
    const messages = [prompt('go')]
    const first = await fake.model.call(request({ messages }))
    const second = await fake.model.call(request({ messages: goOn(messages, first) }))
    expect(second).toMatchObject({ text: 'Done.', tool_calls: [], finish_reason: 'stop', reasoning: null })
    const sent = JSON.stringify(fake.server.requests[1]?.body)
    for (const part of [TWO_CALLS.text, 'src/ä.ts', ...first.tool_calls.map(call => `of: ${call.id}`)]) {
      expect(sent.replaceAll('\\"', '"')).toContain(part)
    }
  })

  test('sends one request with the key, the tools, the instructions and the limit, and without our own markers', async () => {
    await using fake = await protocol.connect(() => ({ text: 'ok' }))
    await fake.model.call(request())
    const [seen] = fake.server.requests
    expect(Object.values(seen?.headers ?? {}).join(' ')).toContain(KEY)
    const sent = JSON.stringify(seen?.body)
    for (const part of ['You write code.', 'The shell tool.', '1000']) expect(sent).toContain(part)
    expect(sent).not.toContain('agentrun')
  })

  test('returns a call of an unknown tool with parsed arguments', async () => {
    await using fake = await protocol.connect(() => ({
      tool_calls: [{ name: 'deploy_to_mars', arguments: { path: 'x' } }],
    }))
    const response = await fake.model.call(request())
    expect(response.tool_calls).toEqual([
      { id: expect.any(String), name: 'deploy_to_mars', input: { path: 'x' } },
    ])
    expect(JSON.stringify(response.messages)).toContain('deploy_to_mars')
  })

  test('gives every call a unique id, in the response and among the earlier calls of the run', async () => {
    const twice = {
      tool_calls: [1, 2].map(n => ({ id: 'same', name: 'shell', arguments: { command: `echo ${n}` } })),
    }
    await using fake = await protocol.connect((_seen, n) => (n < 2 ? twice : { text: 'done' }))
    let messages = [prompt('go')]
    const ids: string[] = []
    for (let round = 0; round < 2; round++) {
      const response = await fake.model.call(request({ messages, call_ids: new Set(ids) }))
      expect(response.tool_calls.map(call => call.input)).toEqual([
        { command: 'echo 1' },
        { command: 'echo 2' },
      ])
      ids.push(...response.tool_calls.map(call => call.id))
      messages = goOn(messages, response)
    }
    expect(new Set(ids).size).toBe(4)
    await fake.model.call(request({ messages }))
    const sent = JSON.stringify(fake.server.requests[2]?.body).replaceAll('\\"', '"')
    for (const id of ids) expect(sent).toContain(`of: ${id}`)
  })

  test('images of a prompt are sent', async () => {
    const pixel =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const file = { type: 'file' as const, data: `data:image/png;base64,${pixel}`, mediaType: 'image/png' }
    await using fake = await protocol.connect(() => ({ text: 'a dot' }))
    await fake.model.call(
      request({ messages: [{ role: 'user', content: [{ type: 'text', text: 'what is this?' }, file] }] }),
    )
    const sent = JSON.stringify(fake.server.requests[0]?.body)
    expect(sent).toContain(pixel)
    expect(sent).toContain('image/png')
  })

  test('a response truncated by the token limit has the reason length', async () => {
    await using fake = await protocol.connect(() => ({ text: 'half a sen', finish: 'length' }))
    expect(await fake.model.call(request())).toMatchObject({ text: 'half a sen', finish_reason: 'length' })
  })

  test('a refusal by the content filter has the reason refusal', async () => {
    await using fake = await protocol.connect(() => ({ text: 'I cannot', finish: 'content_filter' }))
    expect(await fake.model.call(request())).toMatchObject({ finish_reason: 'refusal' })
  })

  test('an empty response has no text and no messages', async () => {
    await using fake = await protocol.connect(() => ({}))
    expect(await fake.model.call(request())).toMatchObject({
      text: '',
      reasoning: null,
      tool_calls: [],
      finish_reason: 'stop',
      messages: [],
    })
  })

  test('calls without arguments get an empty object', async () => {
    await using fake = await protocol.connect(() => ({
      tool_calls: [{ name: 'shell', arguments: protocol === GOOGLE ? {} : '' }],
    }))
    expect((await fake.model.call(request())).tool_calls[0]).toEqual({
      id: expect.any(String),
      name: 'shell',
      input: {},
    })
  })
})

describe.each([COMPATIBLE, OPENAI, ANTHROPIC])('bad arguments over $name', protocol => {
  test.each([
    ['not JSON', '{"command": "ls', /not valid JSON: \{"command": "ls/],
    ['an array', '["ls"]', /not an array/],
    ['a text', '"ls"', /not a string/],
    ['null', 'null', /not null/],
    ['a number', '7', /not a number/],
    ['a prototype', '{"__proto__": {"admin": true}}', /not valid JSON/],
    [
      'a tower of brackets',
      `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      /nested more than 64 levels/,
    ],
  ])('%s: the call is there with the reason, and can get a result', async (_name, text, reason) => {
    const call = { name: 'shell', arguments: text }
    await using fake = await protocol.connect((_seen, n) =>
      n === 0
        ? { tool_calls: [call, { name: 'read', arguments: { path: 'a' } }], split: 9_000 }
        : { text: 'sorry' },
    )
    const messages = [prompt('go')]
    const response = await fake.model.call(request({ messages }))
    expect(response.tool_calls).toMatchObject([
      { name: 'shell', input: null, invalid: expect.stringMatching(reason) },
      { name: 'read', input: { path: 'a' } },
    ])
    expect((await fake.model.call(request({ messages: goOn(messages, response) }))).text).toBe('sorry')
  })
})

test('a refusal that the model words itself is text with the reason refusal', async () => {
  for (const protocol of [COMPATIBLE, OPENAI]) {
    await using fake = await protocol.connect(() => ({ refusal: 'I will not.' }))
    expect(await fake.model.call(request())).toMatchObject({ text: 'I will not.', finish_reason: 'refusal' })
  }
})

test('Claude gets its thoughts back with their signature', async () => {
  await using fake = await ANTHROPIC.connect((_seen, n) => (n === 0 ? TWO_CALLS : { text: 'ok' }))
  const messages = [prompt('go')]
  await fake.model.call(request({ messages: goOn(messages, await fake.model.call(request({ messages }))) }))
  const sent = fake.server.requests[1]?.body.messages as { content: unknown[] }[]
  expect(sent[1]?.content[0]).toEqual({
    type: 'thinking',
    thinking: TWO_CALLS.reasoning,
    signature: 'signed-0',
  })
})

test('cache writes of Claude are counted in the cost', async () => {
  await using fake = await ANTHROPIC.connect(() => ({
    text: 'ok',
    usage: { input: 1_000_000, output: 0, cached: 500_000, cache_write: 400_000 },
  }))
  expect((await fake.model.call(request())).usage).toMatchObject({
    input_tokens: 1_000_000,
    cached_tokens: 500_000,
    cost_usd: '1.25',
  })
})

test('OpenAI stores nothing and gets its encrypted reasoning back', async () => {
  await using fake = await OPENAI.connect((_seen, n) => (n === 0 ? TWO_CALLS : { text: 'ok' }))
  const messages = [prompt('go')]
  await fake.model.call(request({ messages: goOn(messages, await fake.model.call(request({ messages }))) }))
  const [first, second] = fake.server.requests.map(seen => seen.body)
  expect(first).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
  expect(JSON.stringify(second)).toContain('sealed-0')
  expect(JSON.stringify(second)).not.toContain('item_reference')
})

test('Gemini gets the signature of its call back', async () => {
  await using fake = await GOOGLE.connect((_seen, n) => (n === 0 ? TWO_CALLS : { text: 'ok' }))
  const messages = [prompt('go')]
  await fake.model.call(request({ messages: goOn(messages, await fake.model.call(request({ messages }))) }))
  expect(JSON.stringify(fake.server.requests[1]?.body)).toContain('signed-call')
})

test('a server that reports no usage: tokens are estimated and raw is null', async () => {
  await using fake = await COMPATIBLE.connect(() => ({ text: 'x'.repeat(400), usage: null }))
  const { usage } = await fake.model.call(request({ messages: [prompt('y'.repeat(4_000))] }))
  expect(usage).toMatchObject({ cached_tokens: 0, cost_usd: null, raw: null })
  expect(usage.input_tokens).toBeGreaterThan(1_000)
  expect(usage.output_tokens).toBeGreaterThanOrEqual(100)
})

test('requests to a compatible server ask for usage and need no key', async () => {
  await using fake = await COMPATIBLE.connect(() => ({ text: 'ok' }))
  await fake.model.call(request())
  expect(fake.server.requests[0]?.body).toMatchObject({
    model: 'org/local:7b',
    stream: true,
    stream_options: { include_usage: true },
  })
})

test('instructions and tools are the same bytes in every call, so that prefixes can be cached', async () => {
  await using fake = await COMPATIBLE.connect((_seen, n) => (n === 0 ? TWO_CALLS : { text: 'ok' }))
  const messages = [prompt('go')]
  await fake.model.call(request({ messages: goOn(messages, await fake.model.call(request({ messages }))) }))
  const [first, second] = fake.server.requests.map(
    seen => seen.body as { tools: unknown; messages: unknown[] },
  )
  expect(JSON.stringify(second?.tools)).toBe(JSON.stringify(first?.tools))
  expect(JSON.stringify(second?.messages.slice(0, 2))).toBe(JSON.stringify(first?.messages))
})

test('a conversation that lacks the result of a call is refused, not sent', async () => {
  await using fake = await COMPATIBLE.connect(() => TWO_CALLS)
  const messages = [prompt('go')]
  const response = await fake.model.call(request({ messages }))
  const failure = await failureOf(
    fake.model.call(request({ messages: [...messages, ...response.messages, prompt('and?')] })),
  )
  expect(failure).toMatchObject({ code: 'rejected', retryable: false })
  expect(fake.server.requests).toHaveLength(1)
})
