import { record } from '../refusal-body.ts'
import { type EventReader, eventOf, type ModelEvent, text } from './event-lines.ts'
import { NOT_REPORTED, readableUsage } from './readable-usage.ts'

/** The reason of a response whose server announced its end without one. */
export const NO_REASON = 'no_finish_reason'

/** One value counts as a list of it. */
const list = (value: unknown): ModelEvent[] => (value == null ? [] : [value].flat().map(record))

/**
 * Reads chat completions, of which servers and gateways have many dialects: an event has the fields that the
 * SDK reads, in the types that it requires. A stream that ends by `[DONE]`, or by an event with usage alone,
 * without a reason gets `NO_REASON`.
 */
export function chatEvents(): EventReader {
  let reason_given = false
  let usage_alone = false
  const calls = new CallNames()
  const withoutReason = () => ({
    choices: [{ index: 0, delta: { tool_calls: calls.nameless() }, finish_reason: NO_REASON }],
  })
  return {
    change(data) {
      const event = eventOf(data)
      if (event === null || (event.choices === undefined && event.usage === undefined)) return null
      const choices = list(event.choices).map(choice => {
        const finish_reason = reasonOf(choice.finish_reason)
        reason_given ||= finish_reason !== null
        const delta = deltaOf(record(choice.delta ?? choice.message), calls)
        if (finish_reason !== null) delta.tool_calls.push(...calls.nameless())
        return { index: 0, delta, finish_reason }
      })
      const usage = readableUsage(event.usage ?? list(event.choices)[0]?.usage)
      usage_alone = usage !== null && choices.length === 0
      return {
        id: text(event.id),
        model: text(event.model),
        choices,
        ...(usage !== null && {
          usage: { prompt_tokens: NOT_REPORTED, completion_tokens: NOT_REPORTED, ...usage },
        }),
        ...(event.error != null && { error: event.error }),
      }
    },
    beforeDone() {
      if (reason_given) return null
      reason_given = true
      return withoutReason()
    },
    atEnd: () => (usage_alone && !reason_given ? withoutReason() : null),
  }
}

/**
 * Returns a word of the protocol in its own case: Gemini's are in capitals. Other words stay as the server
 * writes them.
 */
function reasonOf(value: unknown): string | null {
  const word = text(value) ?? ''
  return (/^(?:stop|length|tool_calls|content_filter)$/i.test(word) ? word.toLowerCase() : word) || null
}

function deltaOf(delta: ModelEvent, calls: CallNames) {
  return {
    ...delta,
    role: null,
    content: typeof delta.content === 'string' || Array.isArray(delta.content) ? delta.content : null,
    reasoning_content: text(delta.reasoning_content),
    reasoning: text(delta.reasoning),
    tool_calls: list(delta.tool_calls).map(call => callOf(call, calls)),
  }
}

function callOf(call: ModelEvent, calls: CallNames): ModelEvent {
  const id = text(call.id)
  const given = record(call.function)
  const index = Number.isInteger(Number(call.index ?? undefined)) ? Number(call.index) : null
  return {
    ...call,
    id,
    index,
    function: {
      name: calls.nameOf({ id, index, name: text(given.name) }),
      arguments:
        typeof given.arguments === 'object' && given.arguments !== null
          ? JSON.stringify(given.arguments)
          : text(given.arguments),
    },
  }
}

type PartOfCall = { id: string | null; index: number | null; name: string | null }

/**
 * The calls of a response that have begun. The SDK drops one with a blank name, and fails for one without:
 * the run would not know of it.
 */
class CallNames {
  readonly #begun = new Set<unknown>()
  readonly #nameless = new Map<unknown, PartOfCall>()

  /**
   * A later part of a call may have its index alone, and another call of the same response no index of its
   * own.
   */
  nameOf(part: PartOfCall): string | null {
    const { id, index, name } = part
    const key = id || index
    const is_first = key !== null && !this.#begun.has(key)
    this.#begun.add(key).add(index)
    if (is_first && name === null) this.#nameless.set(index, part)
    else if (name !== null) this.#nameless.delete(index)
    return is_first && name?.trim() === '' ? 'unnamed' : name
  }

  /** Returns parts that name the calls which have none at the end. */
  nameless(): ModelEvent[] {
    const parts = [...this.#nameless.values()].map(({ id, index }) => ({
      id,
      index,
      function: { name: 'unnamed', arguments: '' },
    }))
    this.#nameless.clear()
    return parts
  }
}
