import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../contract/limits.ts'
import { invalid } from '../core/service-error.ts'
import type { Feed, Reader } from '../live/feed.ts'

/**
 * `buffer_bytes`: how much may wait for a reader before it is sent no more; `stall_ms`: how long it may then
 * read nothing.
 */
type StreamBounds = { heartbeat_ms: number; buffer_bytes: number; stall_ms: number }
const EVENT_STREAM = 'text/event-stream; charset=utf-8'
const HEARTBEAT_INTERVAL_MS = 10_000
const default_bounds: StreamBounds = {
  heartbeat_ms: HEARTBEAT_INTERVAL_MS,
  buffer_bytes: 256 * 1024,
  stall_ms: 10_000,
}

// Neither is followed by a blank line: widely used clients deliver an empty message for each blank line after
// one.
const RECONNECTION_TIME = 'retry: 1000\n'
const HEARTBEAT = ': alive\n'

/**
 * Returns the position that a reader resumes from: the header wins over the query (specification.md#events).
 * Throws 400 when it is not a number.
 */
export function resumePoint(request: FastifyRequest, after_seq: number | undefined): number {
  const header = request.headers['last-event-id']
  if (header === undefined || header === '') return after_seq ?? 0
  if (typeof header !== 'string' || !/^\d{1,9}$/.test(header))
    throw invalid(['header', 'Last-Event-ID'], `must be a whole number from 0 to ${limits.page_skip}`)
  return Number(header)
}

type Stream = { feed: Feed; cursor: number; opened: (end: () => void) => () => void; bounds?: StreamBounds }

/** Responds to HEAD as to GET, without a feed: nobody would leave it. */
export function streamHead(reply: FastifyReply): void {
  reply.type(EVENT_STREAM).header('x-accel-buffering', 'no').send()
}

/**
 * Responds with server-sent events from a feed until the client leaves. A reader for which 256 KiB wait is
 * sent no more until it has read them; one that reads nothing for ten seconds is disconnected, and resumes by
 * `Last-Event-ID`. `opened` receives the function that ends the stream, and returns what to call when it has
 * ended.
 */
export function streamEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  { feed, cursor, opened, bounds = default_bounds }: Stream,
) {
  const headers = Object.fromEntries(
    Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined),
  ) as Record<string, string>
  reply.hijack()
  const response = reply.raw
  let stalled: NodeJS.Timeout | undefined
  const cutIfStalled = () => {
    stalled ??= setTimeout(() => response.destroy(), bounds.stall_ms)
  }
  const ended = opened(() => {
    response.end()
    cutIfStalled()
  })
  if (request.raw.socket.destroyed) return ended()
  response.writeHead(200, {
    ...headers,
    'content-type': EVENT_STREAM,
    'x-accel-buffering': 'no',
    // The stream may end because this process stops: a client that resumes must use another connection.
    connection: 'close',
  })
  response.write(RECONNECTION_TIME)

  const reader: Reader = {
    cursor,
    get full() {
      return response.writableLength > bounds.buffer_bytes
    },
    write(text) {
      if (response.destroyed || response.writableEnded) return false
      response.write(text)
      if (this.full) cutIfStalled()
      return true
    },
    end: () => void response.end(),
  }
  const leave = feed.add(reader)
  const heartbeat = setInterval(() => reader.full || reader.write(HEARTBEAT), bounds.heartbeat_ms)
  request.raw.socket.setTimeout(0)
  response.on('drain', () => {
    clearTimeout(stalled)
    stalled = undefined
    feed.wake()
  })
  response.on('close', () => {
    clearTimeout(stalled)
    clearInterval(heartbeat)
    leave()
    ended()
  })
}

/**
 * Returns an event stream of which each chunk is a whole event, with heartbeats between the events. It ends
 * with its source.
 */
export function withHeartbeats(
  events: ReadableStream<Uint8Array>,
  heartbeat_ms = HEARTBEAT_INTERVAL_MS,
): Readable {
  const stream = new PassThrough()
  const heartbeat = setInterval(() => stream.writableNeedDrain || stream.write(HEARTBEAT), heartbeat_ms)
  // The reader sees how it ended: the stream is destroyed with the error.
  pipeline(Readable.fromWeb(events), stream)
    .catch(() => {})
    .finally(() => clearInterval(heartbeat))
  return stream
}
