import { expect, test } from 'vitest'
import type { ModelMessage, ModelResponse } from '../../src/model/port.ts'
import { PROTOCOLS, type Protocol, prompt, request } from './protocols.ts'

const STEPS = 20
const IMAGE = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAAC'
const RESPONSE = {
  reasoning: 'Next.',
  text: 'I read on.',
  tool_calls: [0, 1].map(n => ({ name: 'read', arguments: { path: `src/${n}.ts` } })),
}

/** The conversation after `response`: earlier messages stay the same objects, as in the loop. */
const after = (
  messages: ModelMessage[],
  response: ModelResponse,
  output = 'ok',
  more: { images?: string[] } = {},
): ModelMessage[] => [
  ...messages,
  ...response.messages,
  ...response.tool_calls.map(
    ({ id, name }): ModelMessage => ({
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: id,
          toolName: name,
          output: { type: 'json', value: { status: 'ok', output: `“${output}” of ${id}`, ...more } },
        },
      ],
    }),
  ),
]

/** A message that counts how often its content is read. */
function watched(message: ModelMessage, read: () => void): ModelMessage {
  const { content } = message
  return Object.defineProperty({ ...message }, 'content', {
    enumerable: true,
    get() {
      read()
      return content
    },
  })
}

/** A tool message as a compaction leaves it. */
function cleared(message: ModelMessage): ModelMessage {
  if (message.role !== 'tool') throw new Error('no result')
  const output = { type: 'json' as const, value: { status: 'ok', output: 'cleared' } }
  return {
    ...message,
    content: message.content.map(part => (part.type === 'tool-result' ? { ...part, output } : part)),
  }
}

const callWith = (messages: ModelMessage[]) =>
  request({ messages, cache_key: 'agentrun-7', max_output_tokens: 64_000 })

/** The body of the request for these messages when nothing is kept. */
async function bodyWithoutKept(
  protocol: Protocol,
  messages: ModelMessage[],
  choice: Parameters<Protocol['connect']>[1],
) {
  await using fresh = await protocol.connect(() => RESPONSE, choice)
  await fresh.model.call(callWith(messages))
  return fresh.server.requests[0]
}

const MARKED = { id: 'openai-compatible/anthropic/claude-opus-5', settings: { cache_marks: true } }
const variants = [
  ...PROTOCOLS.map(protocol => ({ name: protocol.name, protocol, choice: {} })),
  { name: 'a gateway with marks', protocol: PROTOCOLS[0], choice: MARKED },
]

test.each(variants)(
  '$name: requests of a long conversation, also with images in results, have the same bytes as if each was serialized as a whole',
  async ({ protocol, choice }) => {
    if (protocol === undefined) throw new Error('no protocol')
    await using fake = await protocol.connect(() => RESPONSE, choice)
    const conversations: ModelMessage[][] = [[prompt('go')]]
    for (let step = 0; step < STEPS; step++) {
      const messages = conversations.at(-1) ?? []
      conversations.push(
        after(
          messages,
          await fake.model.call(callWith(messages)),
          'ok',
          step % 3 === 1 ? { images: [IMAGE] } : {},
        ),
      )
    }
    for (const step of [9, STEPS - 1]) {
      const whole = await bodyWithoutKept(protocol, conversations[step] ?? [], choice)
      const sent = fake.server.requests[step]
      expect(sent?.compact).toBe(true)
      expect(JSON.stringify(sent?.body)).toBe(JSON.stringify(whole?.body))
    }
  },
)

test.each(PROTOCOLS)(
  '$name: messages far before the last response are not read again, unless a compaction changes some',
  async protocol => {
    await using fake = await protocol.connect(() => RESPONSE)
    let reads = 0
    let messages: ModelMessage[] = [prompt('go')]
    const step = async () => {
      const known = messages.length
      messages = after(messages, await fake.model.call(callWith(messages)))
      messages = messages.map((message, i) =>
        i >= known && i < 12 ? watched(message, () => reads++) : message,
      )
    }
    for (let n = 0; n < STEPS; n++) await step()
    const before = reads
    await step()
    expect(reads).toBe(before)
    messages = messages.map((message, i) => (i === 2 ? cleared(message) : message))
    reads = 0
    await step()
    expect(reads).toBeGreaterThan(0)
    expect(JSON.stringify(fake.server.requests.at(-1)?.body)).toContain('cleared')
  },
)
