import { describe, expect, test } from 'vitest'
import { type ReasoningEffort, reasoning_efforts } from '../../src/contract/reasoning-efforts.ts'
import { outputLimit } from '../../src/core/runs/budget/output-limit.ts'
import { ANTHROPIC, COMPATIBLE, failureOf, GOOGLE, OPENAI, type Protocol, request } from './protocols.ts'
import { forbidOutput } from './silence.ts'

forbidOutput()

/** The fields of a request about thinking, in each wire format. */
function thinkingIn(body: Record<string, unknown> = {}): Record<string, unknown> {
  const { thinking, output_config, reasoning, reasoning_effort, generationConfig } = body
  const google = (generationConfig as { thinkingConfig?: unknown } | undefined)?.thinkingConfig
  return JSON.parse(JSON.stringify({ thinking, output_config, reasoning, reasoning_effort, google }))
}

async function sent(protocol: Protocol, id: string, more: Parameters<typeof request>[0] = {}) {
  await using fake = await protocol.connect(() => ({ text: 'ok' }), { id })
  await fake.model.call(request({ max_output_tokens: 64_000, ...more }))
  expect(fake.server.requests).toHaveLength(1)
  return fake.server.requests[0]?.body ?? {}
}

const adaptive = (effort: string) => ({
  thinking: { type: 'adaptive', display: 'summarized' },
  output_config: { effort },
})
const budget = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })

describe('without an effort of the run, a model thinks as is good for coding', () => {
  test.each([
    [ANTHROPIC, 'anthropic/claude-sonnet-5-5', adaptive('high')],
    [ANTHROPIC, 'anthropic/claude-opus-4-8', adaptive('high')],
    [ANTHROPIC, 'anthropic/claude-sonnet-4-6', adaptive('high')],
    [ANTHROPIC, 'anthropic/claude-next-9', adaptive('high')],
    [ANTHROPIC, 'anthropic/claude-haiku-4-5', budget(32_000)],
    [ANTHROPIC, 'anthropic/claude-haiku-4-5-20251001', budget(32_000)],
    [ANTHROPIC, 'anthropic/claude-opus-4-1', budget(16_000)],
    [ANTHROPIC, 'anthropic/claude-sonnet-4-20250514', budget(32_000)],
    [OPENAI, 'openai/gpt-6.1-sol', { reasoning: { effort: 'medium', summary: 'auto' } }],
    [OPENAI, 'openai/gpt-5.4-mini', { reasoning: { effort: 'medium', summary: 'auto' } }],
    [OPENAI, 'openai/gpt-4.1', {}],
    [GOOGLE, 'google/gemini-3.8-flash', { google: { thinkingLevel: 'medium', includeThoughts: true } }],
    [GOOGLE, 'google/gemini-2.5-pro', { google: { thinkingBudget: 16_000, includeThoughts: true } }],
    [COMPATIBLE, 'openai-compatible/qwen3', { reasoning_effort: 'medium' }],
    [COMPATIBLE, 'openai-compatible/anthropic/claude-opus-5', { reasoning_effort: 'high' }],
  ] as const)('$1', async (protocol, id, expected) => {
    expect(thinkingIn(await sent(protocol, id))).toEqual(expected)
  })
})

describe.each(reasoning_efforts.map(effort => ({ effort })))('reasoning_effort $effort', ({ effort }) => {
  const nearest = (levels: Partial<Record<ReasoningEffort, string>>) => levels[effort] ?? effort
  test('goes to each provider in its own field, at the nearest level that the model has', async () => {
    const of = async (protocol: Protocol, id: string) =>
      thinkingIn(await sent(protocol, id, { reasoning_effort: effort }))
    expect(await of(COMPATIBLE, 'openai-compatible/x')).toEqual({ reasoning_effort: effort })
    const gpt = nearest({ none: 'low', minimal: 'low' })
    expect(await of(OPENAI, 'openai/gpt-6.1-sol')).toMatchObject({ reasoning: { effort: gpt } })
    const flash = nearest({ none: 'low', minimal: 'low', xhigh: 'high', max: 'high' })
    expect(await of(GOOGLE, 'google/gemini-3.8-flash')).toMatchObject({ google: { thinkingLevel: flash } })
    const claude = await of(ANTHROPIC, 'anthropic/claude-opus-5')
    expect(claude).toEqual(
      effort === 'none' ? { thinking: { type: 'disabled' } } : adaptive(nearest({ minimal: 'low' })),
    )
  })
})

describe('the tokens that thinking needs', () => {
  const bodyOf = (id: string, effort: ReasoningEffort, max_output_tokens: number) =>
    sent(ANTHROPIC, id, { reasoning_effort: effort, max_output_tokens })

  test('a budget for thinking is a part of the limit, never beside it', async () => {
    const { max_tokens, thinking } = await bodyOf('anthropic/claude-haiku-4-5', 'high', 64_000)
    expect({ max_tokens, thinking }).toEqual({ max_tokens: 64_000, ...budget(32_000) })
    expect(await bodyOf('anthropic/claude-haiku-4-5', 'high', 10_000)).toMatchObject({
      max_tokens: 10_000,
      ...budget(5_000),
    })
  })

  test('a limit that leaves no room for thinking leaves it out', async () => {
    const { max_tokens, thinking } = await bodyOf('anthropic/claude-haiku-4-5', 'max', 1_000)
    expect({ max_tokens, thinking }).toEqual({ max_tokens: 1_000, thinking: { type: 'disabled' } })
  })

  test.each([
    ['claude-opus-4-0', 32_000],
    ['claude-opus-4-20250514', 32_000],
    ['claude-opus-4-1-20250805', 32_000],
    ['claude-sonnet-4-0', 64_000],
    ['claude-sonnet-4-5', 64_000],
    ['claude-opus-4-5-20251101', 64_000],
    ['claude-haiku-4-5', 64_000],
    ['claude-3-haiku-20240307', 4_096],
  ])('%s: at any effort at most %i, half of them to think', async (name, longest) => {
    await using fake = await ANTHROPIC.connect(() => ({ text: 'ok' }), { id: `anthropic/${name}` })
    expect(fake.model.max_output_tokens).toBe(longest)
    // AGENTRUN_MODELS may state more than the model has.
    for (const max_output_tokens of [longest, 128_000])
      for (const reasoning_effort of reasoning_efforts)
        await fake.model.call(request({ max_output_tokens, reasoning_effort }))
    for (const { body } of fake.server.requests) {
      const { budget_tokens = 0 } = body.thinking as { budget_tokens?: number }
      expect(body.max_tokens).toBeLessThanOrEqual(longest)
      expect(budget_tokens).toBeLessThanOrEqual(Number(body.max_tokens) / 2)
    }
  })

  test('older Claude models think between tool calls as well', async () => {
    await using fake = await ANTHROPIC.connect(() => ({ text: 'ok' }), { id: 'anthropic/claude-sonnet-4-5' })
    await fake.model.call(request({ max_output_tokens: 64_000 }))
    expect(fake.server.requests[0]?.headers['anthropic-beta']).toContain('interleaved-thinking')
  })

  const model = { context_tokens: 200_000, max_output_tokens: 64_000, reasoning_effort: 'high' } as const
  test('a request has the output limit that text and thinking need, the model allows and the window leaves', () => {
    expect(outputLimit(model, null, 10_000)).toBe(64_000)
    expect(outputLimit(model, 'low', 10_000)).toBe(40_000)
    expect(outputLimit(model, 'none', 10_000)).toBe(32_000)
    expect(outputLimit(model, 'max', 10_000)).toBe(64_000)
    expect(outputLimit({ ...model, max_output_tokens: null }, 'max', 10_000)).toBe(128_000)
    expect(outputLimit({ ...model, max_output_tokens: 8_192 }, null, 10_000)).toBe(8_192)
    expect(outputLimit(model, null, 180_000)).toBe(20_000)
    expect(outputLimit({ ...model, context_tokens: null }, null, 180_000)).toBe(64_000)
  })

  test('an estimate that fills the window still leaves a request, whose provider counts exactly', () => {
    expect(outputLimit(model, null, 250_000)).toBe(4_000)
    expect(outputLimit({ ...model, max_output_tokens: 2_000 }, null, 250_000)).toBe(2_000)
  })
})

describe('a provider that does not take the effort', () => {
  const errorOf = (protocol: Protocol, message: string) => {
    if (protocol === ANTHROPIC) return { type: 'error', error: { type: 'invalid_request_error', message } }
    return { error: { message, code: 400, ...(protocol === GOOGLE && { status: 'INVALID_ARGUMENT' }) } }
  }
  const refusal = (protocol: Protocol, message: string) => ({ status: 400, body: errorOf(protocol, message) })
  test.each([
    [COMPATIBLE, 'Unrecognized request argument supplied: reasoning_effort'],
    [COMPATIBLE, '"qwen2.5" does not support thinking'],
    [
      COMPATIBLE,
      "Unsupported value: 'reasoning_effort' does not support 'medium' with this model. Supported values are: 'low', and 'high'.",
    ],
    [
      COMPATIBLE,
      '[{"type":"extra_forbidden","loc":["body","reasoning_effort"],"msg":"Extra inputs are not permitted"}]',
    ],
    [OPENAI, 'Your organization must be verified to generate reasoning summaries.'],
    [OPENAI, "Unsupported parameter: 'reasoning.effort' is not supported with this model."],
    [ANTHROPIC, 'adaptive thinking is not supported on this model'],
    [ANTHROPIC, 'output_config.effort: Extra inputs are not permitted'],
    [GOOGLE, 'Thinking level is not supported for this model.'],
  ])('$1', async (protocol, message) => {
    await using fake = await protocol.connect(({ body }) =>
      Object.keys(thinkingIn(body)).length > 0 ? refusal(protocol, message) : { text: 'ok' },
    )
    expect((await fake.model.call(request())).text).toBe('ok')
    expect(fake.server.requests).toHaveLength(2)
    // The next turn of a run gets its model from the same catalog.
    expect((await fake.modelOf(fake.model.id).call(request())).text).toBe('ok')
    expect(fake.server.requests).toHaveLength(3)
  })

  test('that refuses the request again without it gets no third one, and nothing is learned', async () => {
    await using fake = await COMPATIBLE.connect((_seen, n) =>
      n < 2 ? refusal(COMPATIBLE, 'reasoning_effort is not supported') : { text: 'ok' },
    )
    expect(await failureOf(fake.model.call(request()))).toMatchObject({ code: 'rejected', http_status: 400 })
    expect(fake.server.requests).toHaveLength(2)
    await fake.model.call(request())
    expect(fake.server.requests[2]?.body.reasoning_effort).toBe('medium')
  })

  test.each([
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
    'messages.3.content.0: Invalid `signature` in `thinking` block',
    'tools.0.custom.input_schema: unknown field',
  ])('%s: not about the effort, so nothing is learned', async message => {
    await using fake = await ANTHROPIC.connect(() => refusal(ANTHROPIC, message))
    expect(await failureOf(fake.model.call(request()))).toMatchObject({ code: 'rejected' })
    expect(fake.server.requests).toHaveLength(1)
  })
})
