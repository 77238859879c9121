import { record } from '../refusal-body.ts'
import { type EventReader, eventOf, type ModelEvent, text } from './event-lines.ts'
import { NOT_REPORTED, readableUsage } from './readable-usage.ts'

const not_reported = { input_tokens: NOT_REPORTED, output_tokens: NOT_REPORTED }
const SKIPPED = { type: 'response.skipped' }
/** What the SDK reads as the status of a call. */
const STATUSES: unknown[] = ['in_progress', 'completed', 'incomplete']
const CALLS: unknown[] = ['function_call', 'custom_tool_call']

/**
 * Reads events of the Responses API: fields that the SDK requires are there.
 *
 * - A custom tool call is read by the SDK only with the status `completed`, and another event is taken for a
 *   broken stream. A call that the output limit cut off is `incomplete`, and OpenAI documents no status at
 *   all. The response itself states how it ended.
 * - Events about the response as a whole repeat the tools of the request and the whole output, which nothing
 *   reads: without them the events of all providers have the same bounds. Their usage becomes readable.
 * - The SDK reads a text only as deltas; servers that send it as a whole give it with the end of its item.
 */
export function responsesEvents(): EventReader {
  const begun = new Set<unknown>()
  const written = new Set<unknown>()
  return {
    change(data) {
      const event = eventOf(data)
      if (event === null) return null
      if (event.response !== undefined) return summaryOf(event)
      if (event.type === 'response.output_text.delta') {
        written.add(event.item_id)
        const { logprobs, ...rest } = event
        return rest
      }
      if (event.type !== 'response.output_item.added' && event.type !== 'response.output_item.done')
        return null
      const item = itemOf(event)
      if (item === null) return SKIPPED
      const changed = {
        ...event,
        item,
        output_index: typeof event.output_index === 'number' ? event.output_index : 0,
      }
      const first = { ...changed, type: 'response.output_item.added' }
      const is_begun = begun.has(item.id)
      begun.add(item.id)
      const whole = event.type === 'response.output_item.done' && !written.has(item.id) ? textOf(item) : ''
      if (whole === '') return changed
      const delta = { type: 'response.output_text.delta', item_id: item.id, delta: whole }
      return is_begun ? [delta, changed] : [first, delta, changed]
    },
  }
}

/** Returns the item of an event; null: it has no type. */
function itemOf(event: ModelEvent): ModelEvent | null {
  const item = record(event.item)
  if (text(item.type) === null) return null
  if (!CALLS.includes(item.type)) return 'id' in item ? item : { ...item, id: '' }
  const { id, call_id, name, arguments: given, status } = item
  return {
    ...item,
    id: text(id) ?? '',
    call_id: text(call_id) || text(id) || 'call',
    name: text(name)?.trim() || 'unnamed',
    ...(item.type === 'function_call' && {
      arguments: typeof given === 'object' && given !== null ? JSON.stringify(given) : (text(given) ?? ''),
    }),
    ...(event.type === 'response.output_item.done' && {
      status: item.type === 'function_call' && STATUSES.includes(status) ? status : 'completed',
    }),
  }
}

function textOf({ type, content }: ModelEvent): string {
  if (type !== 'message' || !Array.isArray(content)) return ''
  return content
    .map(part => (record(part).type === 'output_text' ? (text(record(part).text) ?? '') : ''))
    .join('')
}

function summaryOf(event: ModelEvent): ModelEvent {
  const { tools, output, input, instructions, usage, ...response } = record(event.response)
  return {
    ...event,
    sequence_number: typeof event.sequence_number === 'number' ? event.sequence_number : 0,
    response: {
      ...response,
      id: text(response.id) ?? '',
      model: text(response.model) ?? '',
      created_at: typeof response.created_at === 'number' ? response.created_at : 0,
      usage: usage == null ? null : { ...not_reported, ...readableUsage(usage) },
    },
  }
}
