import { record } from '../refusal-body.ts'
import { type EventReader, eventOf, type ModelEvent } from './event-lines.ts'
import { NOT_REPORTED, readableUsage } from './readable-usage.ts'

/** The reason of a response whose server announced its end without one. */
export const NO_REASON = 'no_finish_reason'

/** Returns the text; null for anything else. */
const text = (value: unknown) => (typeof value === 'string' ? value : null)
const list = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.map(record) : [])

/**
 * Reads chat completions, of which servers and gateways have many dialects: an event has the fields that the SDK reads, in the types that it
 * requires. A stream that ends by `[DONE]` without a reason gets `NO_REASON`.
 */
export function chatEvents(): EventReader {
  let reason_given = false
  const begun = new Set<unknown>()
  return {
    change(data) {
      const event = eventOf(data)
      if (event === null || (event.choices === undefined && event.usage === undefined)) return null
      const choices = list(event.choices).map(choice => {
        const finish_reason = text(choice.finish_reason)
        reason_given ||= finish_reason !== null && finish_reason !== ''
        return { index: 0, delta: deltaOf(record(choice.delta), begun), finish_reason: finish_reason === '' ? null : finish_reason }
      })
      const usage = readableUsage(event.usage)
      return {
        id: text(event.id),
        model: text(event.model),
        choices,
        ...(usage !== null && { usage: { prompt_tokens: NOT_REPORTED, completion_tokens: NOT_REPORTED, ...usage } }),
        ...(event.error != null && { error: event.error }),
      }
    },
    beforeDone: () => (reason_given ? null : { choices: [{ index: 0, delta: {}, finish_reason: NO_REASON }] }),
  }
}

function deltaOf(delta: ModelEvent, begun: Set<unknown>): ModelEvent {
  return {
    ...delta,
    role: null,
    content: typeof delta.content === 'string' || Array.isArray(delta.content) ? delta.content : null,
    reasoning_content: text(delta.reasoning_content),
    reasoning: text(delta.reasoning),
    tool_calls: list(delta.tool_calls).map(call => callOf(call, begun)),
  }
}

/** The SDK drops a call without a name, and the run would not know of it. */
function callOf(call: ModelEvent, begun: Set<unknown>): ModelEvent {
  const id = text(call.id)
  const given = record(call.function)
  const is_first = id !== null && id !== '' && !begun.has(id)
  if (is_first) begun.add(id)
  const name = text(given.name)
  const nameless = is_first && name !== null && name.trim() === ''
  return {
    ...call,
    id,
    index: typeof call.index === 'number' ? call.index : null,
    function: {
      name: nameless ? 'unnamed' : name,
      arguments: typeof given.arguments === 'object' && given.arguments !== null ? JSON.stringify(given.arguments) : text(given.arguments),
    },
  }
}
