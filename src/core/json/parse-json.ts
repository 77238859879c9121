import { yieldToOthers } from '../yield-to-others.ts'
import { type JsonChannel, json_channels } from './channels.ts'
import { type JsonExcess, JsonMeter } from './json-meter.ts'

/** `limit` null: the text is not JSON. `message`: the end of a sentence about the text. */
type JsonProblem = JsonExcess | { limit: null; max: null; message: string }
type ReadJson = { value: unknown; problem?: undefined } | { value?: undefined; problem: JsonProblem }

const MAX_SYNTAX_MESSAGE = 200
/** Bytes that are counted, decoded or parsed without a pause: a millisecond or two. */
const SLICE_BYTES = 1024 * 1024
const encoder = new TextEncoder()

/**
 * Parses a JSON text from outside within the bounds of its channel, which are counted before: the only way to
 * a value that this service did not write (decisions.md#json-is-counted-before-it-is-parsed).
 */
export function readJson(channel: JsonChannel, text: string): ReadJson {
  const problem = excessOf(channel, encoder.encode(text))
  return problem === null ? parseCounted(text) : { problem }
}

/**
 * The same for bytes in UTF-8 that may be many: others are served between the steps of the work. Invalid
 * UTF-8 is read as U+FFFD.
 */
export async function readLargeJson(channel: JsonChannel, bytes: Uint8Array): Promise<ReadJson> {
  const problem = await largeExcessOf(channel, bytes)
  if (problem !== null) return { problem }
  const text = new TextDecoder().decode(bytes)
  if (bytes.length > SLICE_BYTES) await yieldToOthers()
  return parseCounted(text)
}

/** Parses a text whose values were counted. */
export function parseCounted(text: string): ReadJson {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, MAX_SYNTAX_MESSAGE).toWellFormed() : ''
    return { problem: { limit: null, max: null, message: `is not JSON: ${reason}` } }
  }
}

/** The same for a schema to parse; undefined when the text is not JSON or exceeds a bound. */
export const parseJson = (channel: JsonChannel, text: string): unknown => readJson(channel, text).value

/** Returns the bound of a channel that a text exceeds, or null. For a text that a library parses. */
export const excessOf = (channel: JsonChannel, text: Uint8Array): JsonExcess | null =>
  new JsonMeter(json_channels[channel]).add(text)

/** The same, with pauses in which others are served. */
export async function largeExcessOf(channel: JsonChannel, text: Uint8Array): Promise<JsonExcess | null> {
  const meter = new JsonMeter(json_channels[channel])
  for (let start = 0; start < text.length; start += SLICE_BYTES) {
    const excess = meter.add(text, start, Math.min(text.length, start + SLICE_BYTES))
    if (excess !== null) return excess
    if (text.length > SLICE_BYTES) await yieldToOthers()
  }
  return null
}

/** Returns a fetched response as JSON within the bounds of its channel; undefined for anything else. */
export async function responseJson(channel: JsonChannel, response: Response): Promise<unknown> {
  return parseJson(channel, await response.text())
}
