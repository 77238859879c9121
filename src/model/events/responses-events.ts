import { excessOf, parseJson } from '../../core/json/parse-json.ts'
import { record } from '../refusal-body.ts'

const DATA = /^data: ?(\{.*)$/gm
/** Shorter events are within the bounds of every other one. */
const SUMMARY_CHARACTERS = 3_000

/**
 * Returns a `fetch` that adapts events of the Responses API to what the SDK can read.
 *
 * - A custom tool call is read only with the status `completed`, and another event is taken for a broken stream. A call that the output limit cut
 *   off is `incomplete`, and OpenAI documents no status at all. The response itself states how it ended.
 * - Events about the response as a whole repeat the tools of the request and the whole output, which nothing reads: without them the events of all
 *   providers have the same bounds.
 */
export function withReadableEvents(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok || response.body === null) return response
    const { status, statusText, headers } = response
    const lines = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(wholeLines(line => line.replace(DATA, readable)))
    return new Response(lines.pipeThrough(new TextEncoderStream()), { status, statusText, headers })
  }
}

function wholeLines(change: (lines: string) => string): TransformStream<string, string> {
  let rest = ''
  return new TransformStream({
    transform(text, controller) {
      const end = text.lastIndexOf('\n') + 1
      if (end > 0) controller.enqueue(change(rest + text.slice(0, end)))
      rest = end > 0 ? text.slice(end) : rest + text
    },
    flush: controller => controller.enqueue(change(rest)),
  })
}

function readable(line: string, data: string): string {
  if (data.includes('"custom_tool_call"')) return withChanged(line, data, completed)
  const is_large = data.length > SUMMARY_CHARACTERS && excessOf('model_event', Buffer.from(data)) !== null
  return is_large ? withChanged(line, data, shortened) : line
}

type Event = Record<string, unknown>

/** `change` returns the event instead; null: the line is unchanged. */
function withChanged(line: string, data: string, change: (event: Event) => Event | null): string {
  const changed = change(record(parseJson('model_summary', data)))
  return changed === null ? line : `data: ${JSON.stringify(changed)}`
}

function completed(event: Event): Event | null {
  const item = record(event.item)
  if (event.type !== 'response.output_item.done' || item.type !== 'custom_tool_call') return null
  return { ...event, item: { ...item, status: 'completed' } }
}

function shortened(event: Event): Event | null {
  if (event.response === undefined) return null
  const { tools, output, input, instructions, ...response } = record(event.response)
  return { ...event, response }
}
