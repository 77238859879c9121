import { record } from '../refusal-body.ts'
import { type EventReader, eventOf, type ModelEvent } from './event-lines.ts'
import { NOT_REPORTED, readableUsage } from './readable-usage.ts'

/** What a response to a request of the service can have; the protocol requires that clients skip everything else. */
const BLOCKS: unknown[] = ['text', 'thinking', 'redacted_thinking', 'tool_use']
const DELTAS: unknown[] = ['text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta']
/** Events that have nothing to change. */
const PLAIN = /^ ?\{"type": ?"(ping|message_stop)"/
const SKIPPED = { type: 'ping' }

/** Reads the events of the Messages API: usage becomes readable, and blocks of unknown types are skipped with all of their events. */
export function messagesEvents(): EventReader {
  const skipped = new Set<unknown>()
  return {
    change(data) {
      if (PLAIN.test(data)) return null
      const event = eventOf(data)
      if (event === null) return null
      if (event.type === 'message_start') return startOf(event)
      if (event.type === 'message_delta') return { ...event, usage: { output_tokens: NOT_REPORTED, ...readableUsage(event.usage) } }
      if (event.type === 'content_block_start' && !BLOCKS.includes(record(event.content_block).type)) {
        skipped.add(event.index)
        return SKIPPED
      }
      const of_skipped = skipped.has(event.index) && (event.type === 'content_block_delta' || event.type === 'content_block_stop')
      const unknown_delta = event.type === 'content_block_delta' && !DELTAS.includes(record(event.delta).type)
      return of_skipped || unknown_delta ? SKIPPED : null
    },
  }
}

function startOf(event: ModelEvent): ModelEvent {
  const { content, usage, ...message } = record(event.message)
  return { ...event, message: { ...message, content: [], usage: { input_tokens: NOT_REPORTED, ...readableUsage(usage) } } }
}
