import type { ModelMessage } from './port.ts'

export type ProviderOptions = NonNullable<ModelMessage['providerOptions']>

/**
 * Marks the end of the conversation, and where the previous request ended. Claude looks for a cached
 * beginning at the marks and up to 20 blocks before each; one response with many parallel calls, and their
 * results, has more.
 */
export function markCached(messages: ModelMessage[], mark: ProviderOptions): ModelMessage[] {
  const response = messages.findLastIndex(({ role }) => role === 'assistant')
  const ends = [response - 1, messages.length - 1]
  return messages.map((message, index) => (ends.includes(index) ? marked(message, mark) : message))
}

/** The mark is at the last part, where every wire format takes it from. */
function marked(message: ModelMessage, mark: ProviderOptions): ModelMessage {
  const { content } = message
  if (message.role === 'system') return message
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const last = parts.length - 1
  const withMark = (part: (typeof parts)[number]) => ({
    ...part,
    providerOptions: { ...optionsOf(part), ...mark },
  })
  return {
    ...message,
    content: parts.map((part, index) => (index === last ? withMark(part) : part)),
  } as ModelMessage
}

const optionsOf = (part: object): ProviderOptions | undefined =>
  'providerOptions' in part ? (part.providerOptions as ProviderOptions) : undefined

type ChatMessage = { role?: string; content?: unknown; cache_control?: unknown }

/**
 * Returns the body of a chat completion with its marks where gateways read them: at a part of a system or
 * user message, and at a tool message itself. The SDK writes each mark at the message, with the content as a
 * string.
 */
export function withPartMarks(body: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(body.messages)) return body
  return { ...body, messages: body.messages.map(partMarked) }
}

function partMarked(message: ChatMessage): ChatMessage {
  const { cache_control, content, ...rest } = message
  if (cache_control === undefined || message.role === 'tool' || typeof content !== 'string') return message
  return { ...rest, content: [{ type: 'text', text: content, cache_control }] }
}
