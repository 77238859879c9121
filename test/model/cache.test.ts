import { describe, expect, test } from 'vitest'
import { costUsd } from '../../src/model/call-cost.ts'
import { knownModel } from '../../src/model/model-prices.ts'
import type { ModelMessage } from '../../src/model/port.ts'
import { claudeCache } from './claude-cache.ts'
import {
  ANTHROPIC,
  COMPATIBLE,
  GOOGLE,
  goOn,
  OPENAI,
  PROTOCOLS,
  type Protocol,
  prompt,
  request,
} from './protocols.ts'

type Block = { type: string; cache_control?: unknown }
type ClaudeBody = { system: Block[]; messages: { content: Block[] }[]; tools: object[] }

const MARK = { type: 'ephemeral' }
const CALLS = Array.from({ length: 12 }, (_, n) => ({ name: 'read', arguments: { path: `src/${n}.ts` } }))
const RESPONSE = { reasoning: 'Read them all.', text: 'I read all of them.', tool_calls: CALLS }

/** The bodies of a run whose model gives this response at each step. */
async function bodiesOf(
  protocol: Protocol,
  steps: number,
  choice: Parameters<Protocol['connect']>[1] = {},
  response = RESPONSE,
) {
  await using fake = await protocol.connect(() => response, choice)
  let messages: ModelMessage[] = [prompt('go')]
  for (let step = 0; step < steps; step++) {
    messages = goOn(
      messages,
      await fake.model.call(request({ messages, cache_key: 'agentrun-7', max_output_tokens: 64_000 })),
    )
  }
  return fake.server.requests.map(({ body }) => body)
}

/** The blocks of a request in the order of its cache, and the numbers of those with a mark. */
function blocksOf(body: unknown): { blocks: string[]; marks: number[] } {
  const { system, messages } = body as ClaudeBody
  const blocks = [...system, ...messages.flatMap(({ content }) => content)]
  const marks = blocks.flatMap((block, index) => (block.cache_control === undefined ? [] : [index]))
  return { blocks: blocks.map(({ cache_control: _, ...block }) => JSON.stringify(block)), marks }
}

const FILE = 'export const pattern = /"\\d+"/ // "quoted"\n'.repeat(20)
const FILE_RESULT = {
  status: 'ok',
  path: 'a.ts',
  content: FILE,
  first_line: 1,
  last_line: 20,
  total_lines: 20,
  bytes: FILE.length,
  truncated: false,
}

/** The same conversation with a file as each result. */
const withFiles = (messages: ModelMessage[]): ModelMessage[] =>
  messages.map(message =>
    message.role === 'tool'
      ? {
          ...message,
          content: message.content.map(
            part => ({ ...part, output: { type: 'json', value: FILE_RESULT } }) as typeof part,
          ),
        }
      : message,
  )

/** The same request with each result as JSON. */
const withJsonResults = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (key, value) =>
    key === 'content' && value === FILE ? JSON.stringify(FILE_RESULT) : value,
  )

describe('Claude', () => {
  test('each request has a mark where the previous one ended, however many blocks are between', async () => {
    const all = (await bodiesOf(ANTHROPIC, 4)).map(blocksOf)
    expect(all[0]?.marks).toEqual([0, 1])
    for (const [step, { blocks, marks }] of all.entries()) {
      const before = all[step - 1]
      if (before === undefined) continue
      const end = before.blocks.length - 1
      expect(marks).toEqual([0, end, blocks.length - 1])
      expect(blocks.length - 1 - end).toBeGreaterThan(20)
      // What was cached is the beginning of this request, byte for byte.
      expect(blocks.slice(0, end + 1)).toEqual(before.blocks)
    }
  })

  test('a run of 100 steps reads all of each previous request from the cache, and costs less than a fifth of what one mark and results as JSON cost', async () => {
    const [cache, cache_before] = [
      claudeCache(),
      claudeCache(all => [...new Set([all[0], all.at(-1)])].map(Number)),
    ]
    const price = knownModel('anthropic/claude-sonnet-5-5')
    const costOf = ({ input, cached, cache_write }: ReturnType<typeof cache>) =>
      Number(
        costUsd(
          price,
          { input_tokens: input, cached_tokens: cached, cache_write_tokens: cache_write, output_tokens: 200 },
          0,
        ),
      )
    const read: { input: number; cached: number }[] = []
    let before_usd = 0
    await using fake = await ANTHROPIC.connect(({ body, n }) => {
      const { input, ...more } = cache(body)
      read.push({ input, cached: more.cached })
      before_usd += costOf(cache_before(withJsonResults(body)))
      return {
        ...RESPONSE,
        tool_calls: CALLS.slice(0, n % 3 === 0 ? 12 : 2),
        usage: { input, output: 200, ...more },
      }
    })
    let [messages, usd]: [ModelMessage[], number] = [[prompt('go')], 0]
    for (let step = 0; step < 100; step++) {
      const response = await fake.model.call(
        request({ messages, cache_key: 'agentrun-7', max_output_tokens: 64_000 }),
      )
      messages = withFiles(goOn(messages, response))
      usd += Number(response.usage.cost_usd)
    }
    expect(read.slice(1).map(({ cached }) => cached)).toEqual(read.slice(0, -1).map(({ input }) => input))
    expect(before_usd / usd).toBeGreaterThan(5)
  })

  test('there are never more than the four marks that it accepts, and tools stay the same', async () => {
    const bodies = await bodiesOf(ANTHROPIC, 3)
    for (const body of bodies)
      expect(JSON.stringify(body).match(/"cache_control"/g)?.length).toBeLessThanOrEqual(4)
    expect(new Set(bodies.map(({ tools }) => JSON.stringify(tools))).size).toBe(1)
  })

  test('a message of a person after a response moves the mark to where that response was requested', async () => {
    await using fake = await ANTHROPIC.connect(() => ({ text: 'done' }))
    const messages = [prompt('go'), { role: 'assistant' as const, content: 'done' }, prompt('and the tests?')]
    await fake.model.call(request({ messages, cache_key: 'agentrun-7' }))
    expect(blocksOf(fake.server.requests[0]?.body).marks).toEqual([0, 1, 3])
  })

  test('a mark is at the last result of a conversation, and never stays in it', async () => {
    await using fake = await ANTHROPIC.connect(() => RESPONSE)
    const messages = goOn([prompt('go')], await fake.model.call(request({ cache_key: 'a' })))
    const before = JSON.stringify(messages)
    await fake.model.call(request({ messages, cache_key: 'a' }))
    expect(JSON.stringify(messages)).toBe(before)
    const sent = fake.server.requests[1]?.body as ClaudeBody | undefined
    expect(sent?.messages.at(-1)?.content.at(-1)).toMatchObject({ type: 'tool_result', cache_control: MARK })
  })
})

test.each(PROTOCOLS)('$name: no part of a question that is sent once is cached', async protocol => {
  await using fake = await protocol.connect(() => ({ text: 'ok' }), {
    settings: { cache_marks: true, max_output_tokens: 8_000 },
  })
  await fake.model.call(request())
  expect(JSON.stringify(fake.server.requests[0]?.body)).not.toMatch(/cache/)
})

test('OpenAI gets the key of the run with every request', async () => {
  const bodies = await bodiesOf(OPENAI, 3)
  expect(bodies.map(body => body.prompt_cache_key)).toEqual(['agentrun-7', 'agentrun-7', 'agentrun-7'])
})

test.each(PROTOCOLS)('$name: each request begins with the bytes of the previous one', async protocol => {
  const bodies = await bodiesOf(protocol, 25, {}, { ...RESPONSE, tool_calls: CALLS.slice(0, 2) })
  const conversations = bodies.map(
    ({ input, messages, contents }) => (input ?? messages ?? contents) as unknown[],
  )
  const text = (messages: unknown[]) =>
    JSON.stringify(messages).replaceAll(',"cache_control":{"type":"ephemeral"}', '')
  for (const [step, conversation] of conversations.entries()) {
    const before = conversations[step - 1] ?? []
    expect(text(conversation.slice(0, before.length))).toBe(text(before))
    expect(conversation.length).toBeGreaterThan(before.length)
  }
  for (const [name, of] of Object.entries({
    tools: 'tools',
    system: 'system',
    instructions: 'systemInstruction',
  }))
    expect(new Set(bodies.map(body => JSON.stringify(body[of]))).size, name).toBe(1)
})

test.each([COMPATIBLE, GOOGLE])(
  '$name gets no marks, and no field that a server may refuse',
  async protocol => {
    for (const body of await bodiesOf(protocol, 2)) expect(JSON.stringify(body)).not.toMatch(/cache/)
  },
)

describe('Claude behind a gateway of chat completions, when AGENTRUN_MODELS enables it', () => {
  const choice = { id: 'openai-compatible/anthropic/claude-opus-5', settings: { cache_marks: true } }
  type ChatMessage = { role: string; content: unknown; cache_control?: unknown }

  test('marks are at the parts of texts and at messages of tools, where gateways read them', async () => {
    const [first, second] = (await bodiesOf(COMPATIBLE, 2, choice)).map(
      ({ messages }) => messages as ChatMessage[],
    )
    const marked = (text: string) => [{ type: 'text', text, cache_control: MARK }]
    expect(first).toEqual([
      { role: 'system', content: marked('You write code.') },
      { role: 'user', content: marked('go') },
    ])
    expect(second?.slice(0, 2)).toEqual(first)
    expect(second?.at(-1)).toMatchObject({ role: 'tool', content: expect.any(String), cache_control: MARK })
    expect(JSON.stringify(second).match(/"cache_control"/g)).toHaveLength(3)
  })

  test('images of a marked message stay parts of it', async () => {
    await using fake = await COMPATIBLE.connect(() => ({ text: 'ok' }), choice)
    const file = { type: 'file' as const, data: 'data:image/png;base64,iVBORw0KGgo=', mediaType: 'image/png' }
    const messages: ModelMessage[] = [
      { role: 'user', content: [{ type: 'text', text: 'what is this?' }, file] },
    ]
    await fake.model.call(request({ messages, cache_key: 'a' }))
    const sent = fake.server.requests[0]?.body.messages as ChatMessage[]
    expect(sent[1]?.content).toMatchObject([{ type: 'text' }, { type: 'image_url', cache_control: MARK }])
  })
})
