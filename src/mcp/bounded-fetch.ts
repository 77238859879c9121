import type { FetchLike } from '@modelcontextprotocol/client'
import type { ServerTraffic } from './server-traffic.ts'

/** Bytes of one response. A stream of messages that a server starts itself may last for the whole turn. */
const MAX_RESPONSE_BYTES = 16 * 1024 ** 2
const MAX_STREAM_BYTES = 64 * 1024 ** 2

/** Returns the same `fetch` with responses that fail when they are too large, because the SDK reads them whole. `traffic` counts them too. */
export const boundedFetch =
  (fetch: FetchLike, traffic: ServerTraffic): FetchLike =>
  async (url, init) => {
    const response = await fetch(url, init)
    const { body, status, headers } = response
    if (body === null) return response
    const max = init?.method === undefined || init.method === 'GET' ? MAX_STREAM_BYTES : MAX_RESPONSE_BYTES
    return new Response(body.pipeThrough(limited(max, traffic)), { status, headers })
  }

function limited(max: number, traffic: ServerTraffic): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      traffic.addBytes(chunk.length)
      bytes += chunk.length
      if (bytes > max) controller.error(new Error(`a response has more than ${max} bytes`))
      else controller.enqueue(chunk)
    },
  })
}
