import { parseJson } from '../../core/json/parse-json.ts'
import { ModelError } from '../port.ts'
import { record } from '../refusal-body.ts'

type Fetch = typeof globalThis.fetch
type Bytes = Uint8Array<ArrayBuffer>
/** An event of a stream as JSON. */
export type ModelEvent = Record<string, unknown>
/** Changes the events of one response, in order. */
export type EventReader = {
  /** Returns the event, or several, instead of a `data:` line with this text; null: the line stays. */
  change(data: string): ModelEvent | ModelEvent[] | null
  /** Returns an event that comes before `[DONE]`, or null. */
  beforeDone?(): ModelEvent | null
  /** The same where the stream ends without `[DONE]`. */
  atEnd?(): ModelEvent | null
}

const DATA = 'data:'
/** The beginning of a stream: a field or a comment. */
const FIELD = /^\s*(?:data|event|id|retry)?:/
/** The longest beginning that is awaited before it is recognized. */
const FIELD_CHARACTERS = 200
const DONE = /^ ?\[DONE\]/

/**
 * Returns a `fetch` whose successful responses are event streams that the SDK can read: `open` begins to read
 * one. A response that is not an event stream fails with ModelError `malformed`, which names its content
 * type: it comes from another server than the one that is configured.
 */
export const withReadableEvents =
  (fetch: Fetch, open: () => EventReader): Fetch =>
  async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok || response.body === null) return response
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(readableEvents(headers.get('content-type'), open())), {
      status,
      statusText,
      headers,
    })
  }

/**
 * One stage instead of one for each of decoding, lines and encoding: a stage costs more than the work on most
 * chunks.
 */
function readableEvents(content_type: string | null, reader: EventReader): TransformStream<Bytes, Bytes> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let begun = false
  let rest = ''
  /** Returns whether the body is not an event stream, once that is known. */
  const isForeign = (text: string, is_whole: boolean) => {
    if (begun) return false
    const beginning = text.slice(0, FIELD_CHARACTERS).trimStart()
    if (!is_whole && !beginning.includes('\n') && text.length < FIELD_CHARACTERS) return false
    begun = beginning !== ''
    return begun ? !FIELD.test(beginning) : is_whole && !content_type?.includes('event-stream')
  }
  return new TransformStream({
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true })
      if (isForeign(rest + text, false)) return controller.error(noEventStream(content_type))
      const end = text.lastIndexOf('\n') + 1
      if (end > 0) controller.enqueue(encoder.encode(changedLines(rest + text.slice(0, end), reader)))
      rest = end > 0 ? text.slice(end) : rest + text
    },
    flush(controller) {
      const text = rest + decoder.decode()
      if (isForeign(text, true)) return controller.error(noEventStream(content_type))
      const last = reader.atEnd?.() ?? null
      controller.enqueue(
        encoder.encode(changedLines(text, reader) + (last === null ? '' : `\n\n${dataLine(last)}\n\n`)),
      )
    },
  })
}

function changedLines(text: string, reader: EventReader): string {
  if (!text.includes(DATA)) return text
  return text
    .split('\n')
    .map(line => (line.startsWith(DATA) ? changedLine(line, reader) : line))
    .join('\n')
}

function changedLine(line: string, reader: EventReader): string {
  const data = line.slice(DATA.length)
  const done = DONE.test(data)
  const event = done ? (reader.beforeDone?.() ?? null) : reader.change(data)
  if (event === null) return line
  const changed = [event].flat().map(dataLine).join('\n\n')
  return done ? `${changed}\n\n${line}` : changed
}

const dataLine = (event: ModelEvent) => `data: ${JSON.stringify(event)}`

/** Returns the text; null for anything else. */
export const text = (value: unknown) => (typeof value === 'string' ? value : null)

/** Returns an event as JSON; null for what is none, which the SDK reports. */
export function eventOf(data: string): ModelEvent | null {
  const event = parseJson('model_summary', data)
  return typeof event === 'object' && event !== null && !Array.isArray(event) ? record(event) : null
}

function noEventStream(content_type: string | null): ModelError {
  const type = content_type === null ? 'a response without a content type' : content_type.slice(0, 100)
  return new ModelError(
    'malformed',
    `The server responded with ${type} instead of an event stream. Check the base URL of the model.`,
  )
}
