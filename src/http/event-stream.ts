import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../contract/limits.ts'
import { invalid } from '../core/service-error.ts'
import type { Feed, Reader } from '../live/feed.ts'

/** `buffer_bytes`: what may wait for a reader before it is given no more; `stall_ms`: how long it may then take none of it. */
export type StreamBounds = { heartbeat_ms: number; buffer_bytes: number; stall_ms: number }
const usual: StreamBounds = { heartbeat_ms: 10_000, buffer_bytes: 256 * 1024, stall_ms: 10_000 }

/** Where a reader wants to go on: the header wins over the query (specification.md#events). 400 when it is no number. */
export function resumePoint(request: FastifyRequest, after_seq: number | undefined): number {
  const header = request.headers['last-event-id']
  if (header === undefined || header === '') return after_seq ?? 0
  if (typeof header !== 'string' || !/^\d{1,9}$/.test(header))
    throw invalid(['header', 'Last-Event-ID'], `must be a whole number from 0 to ${limits.page_skip}`)
  return Number(header)
}

/**
 * Answers with server-sent events from a feed until the client leaves. A reader for which 256 KiB wait is given no more until it has
 * read them; one that takes nothing for ten seconds is cut off, and resumes by `Last-Event-ID`.
 * `opened` is told how to end the stream, and answers what to call when it has ended.
 */
export function streamEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  feed: Feed,
  cursor: number,
  opened: (end: () => void) => () => void,
  bounds = usual,
) {
  const headers = Object.fromEntries(Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >
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
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
    // Whoever comes back after its end may be told to by a process that stops: not on the same connection.
    connection: 'close',
  })
  response.write('retry: 1000\n\n')

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
  const heartbeat = setInterval(() => reader.full || reader.write(': alive\n\n'), bounds.heartbeat_ms)
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
