import { describe, expect, test } from 'vitest'
import {
  ANTHROPIC,
  COMPATIBLE,
  failureOf,
  GOOGLE,
  limitOf,
  OPENAI,
  PROTOCOLS,
  type Protocol,
  prompt,
  request,
} from '../protocols.ts'
import { forbidOutput } from '../silence.ts'

forbidOutput()

function errorOf(protocol: Protocol, message: string, status = 400) {
  if (protocol === ANTHROPIC)
    return { status, body: { type: 'error', error: { type: 'invalid_request_error', message } } }
  if (protocol === GOOGLE)
    return { status, body: { error: { code: status, message, status: 'INVALID_ARGUMENT' } } }
  return { status, body: { error: { message, type: 'invalid_request_error', param: null, code: null } } }
}

const requestWith = (more: Parameters<typeof request>[0] = {}) =>
  request({ max_output_tokens: 48_000, ...more })

type Wording = { name: string; protocol: Protocol; limit: number; message(requested: number): string }
/** Each refuses a response longer than `limit`, in its own words. */
const OUTPUT_LIMITS: Wording[] = [
  {
    name: 'DeepSeek',
    protocol: COMPATIBLE,
    limit: 8_192,
    message: () => 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
  },
  {
    name: 'DashScope',
    protocol: COMPATIBLE,
    limit: 8_192,
    message: () => '<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]',
  },
  {
    name: 'Zhipu',
    protocol: COMPATIBLE,
    limit: 32_768,
    message: () => 'max_tokens参数非法：限制数值范围[1,32768]',
  },
  {
    name: 'Volcengine',
    protocol: COMPATIBLE,
    limit: 32_768,
    message: n =>
      `The parameter max_tokens specified in the request is not valid: integer above maximum value, expected a value <= 32768, but got ${n} instead.`,
  },
  {
    name: 'Groq',
    protocol: COMPATIBLE,
    limit: 16_384,
    message: () =>
      '`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the `context_window` for this model',
  },
  {
    name: 'OpenAI',
    protocol: OPENAI,
    limit: 16_384,
    message: n =>
      `max_tokens is too large: ${n}. This model supports at most 16384 completion tokens, whereas you provided ${n}.`,
  },
  {
    name: 'Anthropic',
    protocol: ANTHROPIC,
    limit: 8_192,
    message: n =>
      `max_tokens: ${n} > 8192, which is the maximum allowed number of output tokens for claude-x`,
  },
  {
    name: 'Gemini',
    protocol: GOOGLE,
    limit: 8_192,
    message: n =>
      `Unable to submit request because it has a maxOutputTokens value of ${n} but the supported range is from 1 (inclusive) to 8193 (exclusive). Update the value and try again.`,
  },
  {
    name: 'Bedrock',
    protocol: COMPATIBLE,
    limit: 8_192,
    message: () =>
      'The maximum tokens you requested exceeds the model limit of 8192. Try again with a maximum tokens value that is lower than 8192.',
  },
]

const WINDOW = 32_768
const INPUT = 8_000
/**
 * Each refuses an input and a response that are longer than the window together; the input has 8,000 tokens.
 */
const WINDOWS: Omit<Wording, 'limit'>[] = [
  {
    name: 'vLLM up to 0.9',
    protocol: COMPATIBLE,
    message: n =>
      `This model's maximum context length is ${WINDOW} tokens. However, you requested ${n + INPUT} tokens (${INPUT} in the messages, ${n} in the completion). Please reduce the length of the messages or completion.`,
  },
  {
    name: 'vLLM 0.10',
    protocol: COMPATIBLE,
    message: n =>
      `'max_tokens' or 'max_completion_tokens' is too large: ${n}. This model's maximum context length is ${WINDOW} tokens and your request has ${INPUT} input tokens (${n} > ${WINDOW} - ${INPUT}).`,
  },
  {
    name: 'SGLang',
    protocol: COMPATIBLE,
    message: n =>
      `Requested token count exceeds the model's maximum context length of ${WINDOW} tokens. You requested a total of ${n + INPUT} tokens: ${INPUT} tokens from the input messages and ${n} tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.`,
  },
  {
    name: 'text-generation-inference',
    protocol: COMPATIBLE,
    message: n =>
      `\`inputs\` tokens + \`max_new_tokens\` must be <= ${WINDOW}. Given: ${INPUT} \`inputs\` tokens and ${n} \`max_new_tokens\``,
  },
  {
    name: 'OpenRouter',
    protocol: COMPATIBLE,
    message: n =>
      `This endpoint's maximum context length is ${WINDOW} tokens. However, you requested about ${n + INPUT} tokens (7500 of text input, 500 of tool input, ${n} in the output). Please reduce the length of either one.`,
  },
  {
    name: 'Kimi, which counts the input and the response together',
    protocol: COMPATIBLE,
    message: n =>
      `Invalid request: Your request exceeded model token limit: ${WINDOW} (requested: ${n + INPUT})`,
  },
  {
    name: 'Cerebras, which counts the input and the response together',
    protocol: COMPATIBLE,
    message: n =>
      `Please reduce the length of the messages or completion. Current length is ${n + INPUT} while limit is ${WINDOW}`,
  },
  {
    name: 'Anthropic',
    protocol: ANTHROPIC,
    message: n =>
      `input length and \`max_tokens\` exceed context limit: ${INPUT} + ${n} > ${WINDOW}, decrease input length or \`max_tokens\` and try again`,
  },
]

describe('a refusal that names the limit of the response', () => {
  test.each(OUTPUT_LIMITS)(
    '$name: learned, and the request is repeated once within it',
    async ({ protocol, limit, message }) => {
      await using fake = await protocol.connect(seen =>
        limitOf(seen) > limit ? errorOf(protocol, message(limitOf(seen))) : { text: 'ok' },
      )
      expect((await fake.model.call(requestWith())).text).toBe('ok')
      expect(fake.server.requests.map(limitOf)).toEqual([48_000, limit])
      const { max_output_tokens } = fake.modelOf(fake.model.id)
      expect(max_output_tokens).toBe(limit)
    },
  )
})

describe('a refusal that names the window', () => {
  test.each(WINDOWS)(
    '$name: learned, and the request is repeated once with what is left of it',
    async ({ protocol, message }) => {
      await using fake = await protocol.connect(seen =>
        limitOf(seen) + INPUT >= WINDOW ? errorOf(protocol, message(limitOf(seen))) : { text: 'ok' },
      )
      expect((await fake.model.call(requestWith())).text).toBe('ok')
      expect(fake.server.requests.map(limitOf)).toEqual([48_000, WINDOW - INPUT - 1])
      expect(fake.modelOf(fake.model.id).context_tokens).toBe(WINDOW)
    },
  )

  test('vLLM from 0.20 counts the input only up to the limit, so it is estimated', async () => {
    const messages = [prompt('word '.repeat(6_000))]
    const message = (n: number) =>
      `This model's maximum context length is ${WINDOW} tokens. However, you requested ${n} output tokens and your prompt contains at least ${WINDOW - n + 1} input tokens, for a total of at least ${WINDOW + 1} tokens.`
    await using fake = await COMPATIBLE.connect(seen =>
      limitOf(seen) + INPUT > WINDOW ? errorOf(COMPATIBLE, message(limitOf(seen))) : { text: 'ok' },
    )
    expect((await fake.model.call(requestWith({ messages, max_output_tokens: 32_000 }))).text).toBe('ok')
    const [, second] = fake.server.requests.map(limitOf)
    expect(second).toBeGreaterThan(15_000)
    expect(second).toBeLessThanOrEqual(WINDOW - INPUT)
  })

  test.each([
    `prompt is too long: 250000 tokens > ${WINDOW} maximum`,
    `This model's maximum context length is ${WINDOW} tokens. However, your messages resulted in 40000 tokens. Please reduce the length of the messages.`,
    "This model's maximum context length is 32,768 tokens. However, your messages resulted in 40,000 tokens.",
    `The input (61709 tokens) is longer than the model's context length (${WINDOW} tokens).`,
    `The decoder prompt (length 40000) is longer than the maximum model length of ${WINDOW}. Make sure that \`max_model_len\` is no smaller than the number of text tokens.`,
    `The prompt (total length 40000) is too long to fit into the model (context length ${WINDOW}).`,
    `Prompt contains 65673 tokens and 0 draft tokens, too large for model with ${WINDOW} maximum context length`,
    `request (40000 tokens) exceeds the available context size (${WINDOW} tokens), try increasing it`,
    `Trying to keep the first 40000 tokens when context the overflows. However, the model is loaded with context length of only ${WINDOW} tokens, which is not enough.`,
    `The prompt is too long: 40000, model maximum context length: ${WINDOW}`,
    `Input validation error: \`inputs\` tokens + \`max_new_tokens\` must be <= ${WINDOW}. Given: 40000 \`inputs\` tokens and 1000 \`max_new_tokens\``,
    `Input validation error: \`inputs\` must have less than ${WINDOW} tokens. Given: 40000`,
    `<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, ${WINDOW}]`,
    `This model's maximum prompt length is ${WINDOW} but the request contains 537812 tokens.`,
    `Failed to start sampling: [input_too_large] Current message (1149677 tokens) exceeds budget (${WINDOW} tokens)`,
    `prompt token count of 40000 exceeds the limit of ${WINDOW}`,
  ])('%s: the window is learned, and the conversation must become shorter', async message => {
    for (const status of [400, 422]) {
      await using fake = await COMPATIBLE.connect(() => errorOf(COMPATIBLE, message, status))
      expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({
        code: 'context_exceeded',
        retryable: false,
      })
      expect(fake.server.requests).toHaveLength(1)
      expect(fake.model.context_tokens).toBe(WINDOW)
      expect(fake.model.max_output_tokens).toBeNull()
    }
  })
})

describe.each(PROTOCOLS)('$name, hostile', protocol => {
  test('a limit that is refused again is not tried a third time', async () => {
    await using fake = await protocol.connect((_seen, n) =>
      errorOf(protocol, `Invalid max_tokens value, the valid range of max_tokens is [1, ${8_192 >> n}]`),
    )
    expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({
      code: 'rejected',
      http_status: 400,
    })
    expect(fake.server.requests.map(limitOf)).toEqual([48_000, 8_192])
  })

  test.each([
    'the valid range of max_tokens is [1, 0]',
    'the valid range of max_tokens is [1, 12]',
    'the valid range of max_tokens is [1, 99999999999999999999]',
    'the valid range of max_tokens is [1, -5]',
    'max_tokens: 1 > 64000, which is the maximum allowed number of output tokens for x',
    `This model's maximum context length is 10 tokens`,
    'temperature must be in range [0, 2]',
    '`seed` must be in range [0, 2000000]',
    'the valid range of max_tokens is [1, 2000000]',
  ])('%s: not repeated, and no limit is learned that cannot be worked with', async message => {
    await using fake = await protocol.connect(() => errorOf(protocol, message))
    const { context_tokens, max_output_tokens } = fake.model
    await failureOf(fake.model.call(request()))
    expect(fake.server.requests).toHaveLength(1)
    expect(fake.model.context_tokens).toBe(context_tokens)
    expect(fake.model.max_output_tokens).toBe(max_output_tokens)
  })

  test('a limit in an error of the server is an error of the server', async () => {
    await using fake = await protocol.connect(() =>
      errorOf(protocol, 'the valid range of max_tokens is [1, 8192]', 500),
    )
    expect(await failureOf(fake.model.call(requestWith()))).toMatchObject({ code: 'unavailable' })
    expect(fake.server.requests).toHaveLength(1)
  })
})

test('a server that takes no effort and has a small window gets three requests, and then one', async () => {
  await using fake = await COMPATIBLE.connect(seen => {
    if (seen.body.reasoning_effort !== undefined)
      return errorOf(COMPATIBLE, 'Unknown parameter: reasoning_effort', 422)
    return limitOf(seen) > 8_192
      ? errorOf(COMPATIBLE, 'the valid range of max_tokens is [1, 8192]')
      : { text: 'ok' }
  })
  expect((await fake.model.call(requestWith())).text).toBe('ok')
  expect(fake.server.requests).toHaveLength(3)
  const again = fake.modelOf(fake.model.id)
  await again.call(requestWith({ max_output_tokens: again.max_output_tokens ?? 0 }))
  expect(fake.server.requests).toHaveLength(4)
})
