import type { FetchLike } from '@modelcontextprotocol/client'
import { json_channels } from '../core/json/channels.ts'
import { EventMeter } from '../core/json/event-meter.ts'
import { type JsonExcess, JsonMeter } from '../core/json/json-meter.ts'
import type { ServerTraffic } from './server-traffic.ts'

/** Bytes of one response. A stream of messages that a server starts itself may last for the whole turn. */
const MAX_RESPONSE_BYTES = 16 * 1024 ** 2
const MAX_STREAM_BYTES = 64 * 1024 ** 2

/**
 * Returns the same `fetch` with responses that fail when they are too large, or a message in them has more
 * than its channel permits, because the SDK reads and checks them whole. `traffic` counts them too.
 */
export const meteredFetch =
  (fetch: FetchLike, traffic: ServerTraffic): FetchLike =>
  async (url, init) => {
    const response = await fetch(url, init)
    const { body, status, headers } = response
    if (body === null) return response
    const max = init?.method === undefined || init.method === 'GET' ? MAX_STREAM_BYTES : MAX_RESPONSE_BYTES
    return new Response(body.pipeThrough(limited(max, traffic, meterOf(response, init))), { status, headers })
  }

type MessageMeter = { add(bytes: Uint8Array): JsonExcess | null }

/**
 * Counts a response as the SDK will parse it: by its type where the SDK accepts both, as a stream of events
 * where it accepts only that, and otherwise as JSON, whatever its type is: errors, metadata and tokens.
 */
function meterOf({ ok, headers }: Response, init: Parameters<FetchLike>[1]): MessageMeter {
  const accepted = new Headers(init?.headers).get('accept') ?? ''
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  const is_stream =
    accepted.includes(EVENTS) && ok && (type.trim().toLowerCase() === EVENTS || !accepted.includes('json'))
  return is_stream ? new EventMeter(json_channels.mcp_message) : new JsonMeter(json_channels.mcp_message)
}

const EVENTS = 'text/event-stream'

function limited(
  max: number,
  traffic: ServerTraffic,
  meter: MessageMeter,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      traffic.addBytes(chunk.length)
      bytes += chunk.length
      const excess = meter.add(chunk)
      // The SDK would connect again after a stream that fails.
      if (excess !== null) traffic.end(`sent a message that ${excess.message}`)
      if (bytes > max) controller.error(new Error(`a response has more than ${max} bytes`))
      else controller.enqueue(chunk)
    },
  })
}
