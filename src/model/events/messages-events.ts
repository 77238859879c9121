import { record } from '../refusal-body.ts'
import { NO_REASON } from './chat-events.ts'
import { type EventReader, eventOf, type ModelEvent, text } from './event-lines.ts'
import { NOT_REPORTED, readableUsage } from './readable-usage.ts'

/**
 * What a response to a request of the service can have; the protocol requires that clients skip everything
 * else.
 */
const BLOCKS: unknown[] = ['text', 'thinking', 'redacted_thinking', 'tool_use']
const DELTAS: unknown[] = ['text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta']
/** The texts of blocks and deltas, which the SDK requires. */
const TEXTS = ['text', 'thinking', 'signature', 'partial_json'] as const
const SKIPPED = { type: 'ping' }

/**
 * Reads the events of the Messages API: usage becomes readable, blocks of unknown types are skipped with all
 * of their events, and fields that the SDK requires are there. A message that ends without a reason gets
 * `NO_REASON`.
 */
export function messagesEvents(): EventReader {
  const blocks = new Blocks()
  let reason_given = false
  let usage: ModelEvent = { output_tokens: NOT_REPORTED }
  return {
    change(data) {
      const event = eventOf(data)
      if (event === null) return null
      switch (event.type) {
        case 'message_start':
          return startOf(event)
        case 'content_block_start':
        case 'content_block_delta':
        case 'content_block_stop':
          return blocks.change(event)
        case 'message_delta':
          reason_given ||= text(record(event.delta).stop_reason) !== null
          usage = { ...usage, ...readableUsage(event.usage) }
          return { ...event, delta: record(event.delta), usage }
        case 'message_stop':
          return reason_given
            ? null
            : [{ type: 'message_delta', delta: { stop_reason: NO_REASON }, usage }, event]
        case 'error':
          return { ...event, error: errorOf(event.error) }
        default:
          return SKIPPED
      }
    },
  }
}

function startOf(event: ModelEvent): ModelEvent {
  const { id, model, role, usage } = record(event.message)
  const counts = { input_tokens: NOT_REPORTED, ...readableUsage(usage) }
  return {
    type: event.type,
    message: { id: text(id), model: text(model), role: text(role), content: [], usage: counts },
  }
}

function errorOf(error: unknown): ModelEvent {
  const { type, message } = record(error)
  return {
    ...record(error),
    type: text(type) ?? 'api_error',
    message: text(message) ?? text(error) ?? 'The provider gives no reason.',
  }
}

/** The content of one message. Without an index, blocks follow one another. */
class Blocks {
  readonly #skipped = new Set<unknown>()
  #index = -1

  change(event: ModelEvent): ModelEvent | ModelEvent[] {
    const is_start = event.type === 'content_block_start'
    const index = typeof event.index === 'number' ? event.index : is_start ? this.#index + 1 : this.#index
    if (is_start) {
      this.#index = index
      return this.#start(index, record(event.content_block))
    }
    if (this.#skipped.has(index)) return SKIPPED
    const changed = { ...event, index }
    if (event.type === 'content_block_stop') return changed
    const delta = record(event.delta)
    return DELTAS.includes(delta.type) ? { ...changed, delta: withTexts(delta) } : SKIPPED
  }

  /** The SDK reads no text at the start of a block, where the protocol has none. */
  #start(index: number, block: ModelEvent): ModelEvent | ModelEvent[] {
    if (!BLOCKS.includes(block.type)) {
      this.#skipped.add(index)
      return SKIPPED
    }
    const start = (content_block: ModelEvent) => ({ type: 'content_block_start', index, content_block })
    if (block.type === 'tool_use') return start(callOf(block, index))
    if (block.type === 'redacted_thinking') return start({ ...block, data: text(block.data) ?? '' })
    const kind = block.type === 'text' ? 'text' : 'thinking'
    const begun = text(block[kind])
    const first = { type: 'content_block_delta', index, delta: { type: `${kind}_delta`, [kind]: begun } }
    return begun ? [start({ ...block, [kind]: '' }), first] : start({ ...block, [kind]: '' })
  }
}

function callOf({ id, name, input }: ModelEvent, index: number): ModelEvent {
  const given = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {}
  return {
    type: 'tool_use',
    id: text(id) || `call_${index}`,
    name: text(name)?.trim() || 'unnamed',
    input: given,
  }
}

function withTexts(delta: ModelEvent): ModelEvent {
  const name =
    TEXTS.find(each => delta.type === `${each === 'partial_json' ? 'input_json' : each}_delta`) ?? 'text'
  return { ...delta, [name]: text(delta[name]) ?? '' }
}
