import { excessOf } from '../../core/json/parse-json.ts'
import { record } from '../refusal-body.ts'
import { type EventReader, eventOf, type ModelEvent } from './event-lines.ts'
import { NOT_REPORTED, readableUsage } from './readable-usage.ts'

/** Shorter events are within the bounds of every other one. */
const SUMMARY_CHARACTERS = 3_000
const not_reported = { input_tokens: NOT_REPORTED, output_tokens: NOT_REPORTED }

/**
 * Reads events of the Responses API.
 *
 * - A custom tool call is read by the SDK only with the status `completed`, and another event is taken for a broken stream. A call that the output
 *   limit cut off is `incomplete`, and OpenAI documents no status at all. The response itself states how it ended.
 * - Events about the response as a whole repeat the tools of the request and the whole output, which nothing reads: without them the events of all
 *   providers have the same bounds. Their usage becomes readable.
 */
export function responsesEvents(): EventReader {
  return {
    change(data) {
      const is_large = data.length > SUMMARY_CHARACTERS && excessOf('model_event', Buffer.from(data)) !== null
      if (!is_large && !data.includes('"custom_tool_call"') && !data.includes('"usage"')) return null
      const event = eventOf(data)
      return event && (completed(event) ?? shortened(event))
    },
  }
}

function completed(event: ModelEvent): ModelEvent | null {
  const item = record(event.item)
  if (event.type !== 'response.output_item.done' || item.type !== 'custom_tool_call') return null
  return { ...event, item: { ...item, status: 'completed' } }
}

function shortened(event: ModelEvent): ModelEvent | null {
  if (event.response === undefined) return null
  const { tools, output, input, instructions, usage, ...response } = record(event.response)
  return {
    ...event,
    response: { ...response, usage: usage == null ? null : { ...not_reported, ...readableUsage(usage) } },
  }
}
