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

// What servers and gateways send beyond the published protocols: what a response costs or how it is spelled
// must not decide whether it counts.

const DONE = 'data: [DONE]\n\n'
const data = (event: unknown) => `data: ${JSON.stringify(event)}\n\n`

/** Chat completions with these deltas. */
const chat = (deltas: unknown[], finish_reason: unknown = 'stop', more: Record<string, unknown> = {}) => [
  ...deltas.map(delta => data({ id: 'c1', choices: [{ index: 0, delta, finish_reason: null }] })),
  data({
    id: 'c1',
    choices: [{ index: 0, delta: {}, ...(finish_reason !== undefined && { finish_reason }) }],
    ...more,
  }),
  DONE,
]
const call = (name: unknown, given: unknown, id: unknown = 'call_1') => ({
  tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: given } }],
})

async function answer(protocol: Protocol, raw: string[]) {
  await using fake = await protocol.connect(() => ({ raw }))
  const response = await fake.model.call(request())
  expect(fake.server.requests).toHaveLength(1)
  return response
}

describe('usage', () => {
  /** The events of a response of each protocol, with the counts of tokens changed. */
  const counted = (protocol: Protocol, change: (count: number) => unknown) =>
    protocol
      .events({ text: 'Hi.', usage: { input: 1_000, output: 50, cached: 600 } })
      .map(event =>
        event.replace(
          /("\w*(?:_tokens|TokenCount)"): ?(\d+)/g,
          (_all, name, count) => `${name}:${JSON.stringify(change(Number(count)))}`,
        ),
      )

  test.each(PROTOCOLS)('$name: fractions are rounded, and texts are read as numbers', async protocol => {
    const expected = { text: 'Hi.', usage: { input_tokens: 1_000, output_tokens: 50, cached_tokens: 600 } }
    const fractions = await answer(
      protocol,
      counted(protocol, count => count + 0.0001),
    )
    expect(fractions).toMatchObject(expected)
    expect(
      await answer(
        protocol,
        counted(protocol, count => `${count}`),
      ),
    ).toMatchObject(expected)
  })

  test.each(PROTOCOLS)(
    '$name: counts that are not numbers are estimated, and marked by the absence of what the provider sent',
    async protocol => {
      for (const value of [null, 'many', -5, [], {}, true, 1e30]) {
        const response = await answer(
          protocol,
          counted(protocol, () => value),
        )
        expect(response).toMatchObject({ text: 'Hi.', finish_reason: 'stop' })
        expect(response.usage).toMatchObject({ cached_tokens: 0, raw: null })
        expect(response.usage.input_tokens).toBeGreaterThan(10)
        expect(response.usage.output_tokens).toBeGreaterThan(5)
      }
    },
  )

  test.each([null, [], 'none', 7, true])('chat completions with usage %j', async usage => {
    expect(await answer(COMPATIBLE, chat([{ content: 'Hi.' }], 'stop', { usage }))).toMatchObject({
      text: 'Hi.',
      usage: { raw: null },
    })
  })

  test('an event with usage and without choices counts', async () => {
    const raw = [
      ...chat([{ content: 'Hi.' }]).slice(0, -1),
      data({ usage: { prompt_tokens: 12, completion_tokens: 3 } }),
      DONE,
    ]
    expect((await answer(COMPATIBLE, raw)).usage).toMatchObject({ input_tokens: 12, output_tokens: 3 })
  })

  test('a message of Claude without usage is estimated', async () => {
    const raw = ANTHROPIC.events({ text: 'Hi.' }).map(event => event.replace(/,?"usage":\{[^}]*\}/, ''))
    expect(raw.join('')).not.toContain('usage')
    const response = await answer(ANTHROPIC, raw)
    expect(response).toMatchObject({ text: 'Hi.', usage: { raw: null } })
    expect(response.usage.input_tokens).toBeGreaterThan(10)
  })

  test('only one of the counts is missing: it is estimated, the other one stays', async () => {
    const { usage } = await answer(
      COMPATIBLE,
      chat([{ content: 'x'.repeat(400) }], 'stop', { usage: { prompt_tokens: 12 } }),
    )
    expect(usage).toMatchObject({ input_tokens: 12, raw: null })
    expect(usage.output_tokens).toBeGreaterThan(90)
  })
})

describe('the end of chat completions', () => {
  const whole = {
    tool_calls: [{ name: 'shell', input: { command: 'echo hi' } }],
    finish_reason: 'tool_calls',
  }

  test.each([undefined, null, '', 7])(
    'a whole call and [DONE] with the reason %j is a call',
    async reason => {
      expect(await answer(COMPATIBLE, chat([call('shell', '{"command":"echo hi"}')], reason))).toMatchObject(
        whole,
      )
    },
  )

  test('a text and [DONE] without a reason is an answer', async () => {
    expect(await answer(COMPATIBLE, chat([{ content: 'Hi.' }], null))).toMatchObject({
      text: 'Hi.',
      finish_reason: 'stop',
    })
  })

  test.each([
    ['a call that was cut off', [call('shell', '{"comm')], DONE],
    ['nothing', [], DONE],
    ['a text without [DONE]', [{ content: 'Hi.' }], ''],
  ])('%s without a reason is malformed', async (_name, deltas, done) => {
    const raw = [...chat(deltas, null).slice(0, -1), done]
    await using fake = await COMPATIBLE.connect(() => ({ raw }))
    expect(await failureOf(fake.model.call(request()))).toMatchObject({ code: 'malformed', retryable: true })
  })

  test('announced calls that do not come leave the text as the answer', async () => {
    expect(await answer(COMPATIBLE, chat([{ content: 'All done.' }], 'tool_calls'))).toMatchObject({
      text: 'All done.',
      tool_calls: [],
      finish_reason: 'stop',
    })
  })
})

describe('calls', () => {
  test.each([
    ['functions.shell', 'shell'],
    ['default_api:shell', 'shell'],
    ['tools/shell', 'shell'],
    [' shell ', 'shell'],
    ['other.unknown', 'other.unknown'],
    ['tickets__read', 'tickets__read'],
    ['', 'unnamed'],
    ['  ', 'unnamed'],
  ])('the name %j calls %s', async (name, expected) => {
    const response = await answer(COMPATIBLE, chat([call(name, '{"command":"ls"}')], 'tool_calls'))
    expect(response.tool_calls).toMatchObject([{ name: expected, input: { command: 'ls' } }])
    expect(JSON.stringify(response.messages)).toContain(`"toolName":"${expected}"`)
  })

  test('arguments as an object, roles of other servers and unknown fields are read', async () => {
    const deltas = [{ role: 'model', content: null, audio: {} }, call('shell', { command: 'ls' })]
    expect(
      (await answer(COMPATIBLE, chat(deltas, 'tool_calls', { created: 'now' }))).tool_calls,
    ).toMatchObject([{ name: 'shell', input: { command: 'ls' } }])
  })

  test('a call in parts, of which the later ones repeat a blank name, is one call', async () => {
    const deltas = [call('shell', '{"command"'), call('', ':"ls"}', null), call(null, '', null)]
    expect((await answer(COMPATIBLE, chat(deltas, 'tool_calls'))).tool_calls).toMatchObject([
      { name: 'shell', input: { command: 'ls' } },
    ])
  })
})

describe('thoughts', () => {
  test.each([
    ['in tags', ['<thi', 'nk>Let me', ' see.</th', 'ink>\n\nDo', 'ne.']],
    ['with the closing tag only', ['Let me see.', '</think>\n\nDone.']],
  ])('%s are reasoning, and no part of the answer', async (_name, parts) => {
    const response = await answer(COMPATIBLE, chat(parts.map(content => ({ content }))))
    expect({ text: response.text, reasoning: response.reasoning?.trim() }).toEqual({
      text: 'Done.',
      reasoning: 'Let me see.',
    })
    expect(JSON.stringify(response.messages)).not.toContain('think>')
  })

  test.each(PROTOCOLS)('$name: a thought in tags at the beginning of a text is reasoning', async protocol => {
    const response = await answer(
      protocol,
      protocol.events({ text: '<think>Let me see.</think>Done.', split: 3 }),
    )
    expect(response).toMatchObject({ text: 'Done.', reasoning: 'Let me see.' })
  })

  test.each(['reasoning_content', 'reasoning'])(
    'an answer in %s alone is the answer of chat completions',
    async field => {
      expect(await answer(COMPATIBLE, chat([{ [field]: 'All done.' }]))).toMatchObject({
        text: 'All done.',
        reasoning: null,
      })
    },
  )

  test('reasoning beside a text or a call stays reasoning', async () => {
    const thought = { reasoning_content: 'Hm.' }
    expect(await answer(COMPATIBLE, chat([thought, { content: 'Done.' }]))).toMatchObject({
      text: 'Done.',
      reasoning: 'Hm.',
    })
    expect(await answer(COMPATIBLE, chat([thought, call('shell', '{}')], 'tool_calls'))).toMatchObject({
      text: '',
      reasoning: 'Hm.',
    })
  })
})

describe('blocks of Claude that are newer than the service', () => {
  const block = (index: number, content_block: unknown, ...deltas: unknown[]) => [
    data({ type: 'content_block_start', index, content_block }),
    ...deltas.map(delta => data({ type: 'content_block_delta', index, delta })),
    data({ type: 'content_block_stop', index }),
  ]
  test.each([
    ['an unknown block', block(0, { type: 'mystery', foo: 1 }, { type: 'mystery_delta', foo: 1 })],
    ['a block without a type', block(0, {})],
    ['a delta of an unknown type', block(0, { type: 'thinking', thinking: '' }, { type: 'mystery_delta' })],
    ['an unknown event', [data({ type: 'mystery', index: 3 })]],
  ])('%s is skipped', async (_name, unknown) => {
    const events = ANTHROPIC.events({ text: 'Done.' }).map(event => event.replace('"index":0', '"index":1'))
    const start = events.findIndex(event => event.includes('content_block_start'))
    const response = await answer(ANTHROPIC, [...events.slice(0, start), ...unknown, ...events.slice(start)])
    expect(response).toMatchObject({ text: 'Done.', finish_reason: 'stop' })
  })
})

test.each(PROTOCOLS)(
  '$name: a body that is not an event stream is named by its content type',
  async protocol => {
    for (const [type, body] of [
      ['text/html', '<html><body>Sign in</body></html>'],
      ['application/json', '{"choices":[]}'],
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

test.each([OPENAI, GOOGLE, ANTHROPIC, COMPATIBLE])(
  '$name: an event stream counts as one, whatever its content type',
  async protocol => {
    await using fake = await protocol.connect(() => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: protocol.events({ text: 'Hi.' }).join(''),
    }))
    expect(await fake.model.call(request())).toMatchObject({ text: 'Hi.' })
  },
)
