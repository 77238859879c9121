import { createParser } from 'eventsource-parser'
import type { ModelApi } from '../contract/model-settings.ts'
import { parseJson } from '../core/json/parse-json.ts'
import type { CountedTokens } from '../model/port.ts'
import { addUsage } from './usage.ts'

/** Bytes of a response without a stream that are read; the usage of a longer one is unknown. */
const MAX_WHOLE_BYTES = 16 * 1024 * 1024

/** Reads the usage from a response while it is passed on. */
export type UsageReader = {
  add(chunk: Uint8Array): void
  /**
   * The usage, after the last chunk; null: it was not reported, or the stream broke off before its output
   * was.
   */
  usage(): CountedTokens | null
  /** Bytes so far. */
  readonly bytes: number
}

/**
 * Returns a reader for one response: events of a stream, or one JSON object. What cannot be parsed reports
 * nothing.
 */
export function createUsageReader(api: ModelApi, stream: boolean): UsageReader {
  let bytes = 0
  let usage: CountedTokens | null = null
  // Anthropic counts the input when a stream starts, and the output when it ends.
  let counts_output = !(stream && api === 'anthropic-messages')
  const read = (text: string) => {
    const message = parseJson(stream ? 'model_summary' : 'model_response', text)
    usage = addUsage(api, message, usage)
    counts_output ||= Object(message).type === 'message_delta'
  }
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent: ({ data }) => mayReportUsage(data) && read(data), onError() {} })
  let whole = ''
  return {
    add(chunk) {
      bytes += chunk.length
      const text = decoder.decode(chunk, { stream: true })
      if (stream) parser.feed(text)
      else if (bytes <= MAX_WHOLE_BYTES) whole += text
    },
    usage() {
      if (!stream) read(whole)
      return counts_output ? usage : null
    },
    get bytes() {
      return bytes
    },
  }
}

/** Most events are parts of the text: only those with a usage are parsed. */
const mayReportUsage = (data: string): boolean => data.includes('"usage')
