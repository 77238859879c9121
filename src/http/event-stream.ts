import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../contract/limits.ts'
import { invalid } from '../core/service-error.ts'
import type { Feed, Reader } from '../live/feed.ts'

/** `buffer_bytes`: what may wait for a reader before it is given no more; `stall_ms`: how long it may then take none of it. */
export type StreamBounds = { heartbeat_ms: number; buffer_bytes: number; stall_ms: number }
const usual: StreamBounds = { heartbeat_ms: 10_000, buffer_bytes: 256 * 1024, stall_ms: 10_000 }

/** Where a reader wants to go on: the header wins over the query (decisions §10). 400 when it is no number. */
export function resumePoint(request: FastifyRequest, after_seq: number | undefined): number {
  const header = request.headers['last-event-id']
  if (header === undefined || header === '') return after_seq ?? 0
  if (typeof header !== 'string' || !/^\d{1,9}$/.test(header))
    throw invalid(['header', 'Last-Event-ID'], `must be a whole number from 0 to ${limits.page_skip}`)
  return Number(header)
}

/** Every open stream of this process, so that a shutdown can end them. */
export type OpenStreams = Set<() => void>

/**
 * Answers with server-sent events from a feed until the client leaves. A reader for which 256 KiB wait is given no more until it has
 * read them; one that takes nothing for ten seconds is cut off, and resumes by `Last-Event-ID`.
 */
export function streamEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  feed: Feed,
  cursor: number,
  open: OpenStreams,
  on_end: () => void,
  bounds = usual,
) {
  const headers = Object.fromEntries(Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >
  reply.hijack()
  const response = reply.raw
  if (request.raw.socket.destroyed) return on_end()
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
    connection: 'keep-alive',
  })
  response.write('retry: 1000\n\n')

  let stalled: NodeJS.Timeout | undefined
  const reader: Reader = {
    cursor,
    get full() {
      return response.writableLength > bounds.buffer_bytes
    },
    write(text) {
      if (response.destroyed || response.writableEnded) return false
      response.write(text)
      if (this.full) stalled ??= setTimeout(() => response.destroy(), bounds.stall_ms)
      return true
    },
    end: () => void response.end(),
  }
  const leave = feed.add(reader)
  const heartbeat = setInterval(() => reader.full || reader.write(': alive\n\n'), bounds.heartbeat_ms)
  const finish = () => void response.end()
  open.add(finish)
  request.raw.socket.setTimeout(0)
  response.on('drain', () => {
    clearTimeout(stalled)
    stalled = undefined
    feed.wake()
  })
  response.on('close', () => {
    clearTimeout(stalled)
    clearInterval(heartbeat)
    open.delete(finish)
    leave()
    on_end()
  })
}
