import { type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { deadline } from '../core/deadline.ts'
import { authorityText, parseAuthority } from './authority.ts'
import { connectChecked, type Outgoing, Refused } from './connect-checked.ts'

/** The part of `fetch` that clients of other services need. Redirects are returned to the caller, who decides about them. */
type Fetch = (
  url: string,
  init?: { method?: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal },
) => Promise<Response>

/**
 * Returns a `fetch` like `outgoingFetch` whose responses are streams, for requests whose caller bounds time and size and aborts by `signal`.
 */
export function outgoingStream(outgoing: Outgoing): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const { url, method, headers, signal } = new Request(input, init)
    const body = typeof init.body === 'string' ? init.body : undefined
    try {
      const { response, socket } = await send(outgoing, new URL(url), { method, headers: Object.fromEntries(headers), body, signal })
      response.once('close', () => socket.destroy())
      const status = response.statusCode ?? 0
      const stream = Readable.toWeb(response) as ReadableStream<Uint8Array>
      return new Response(BODILESS.includes(status) ? null : stream, { status, headers: headersOf(response) })
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw new TypeError('fetch failed', { cause: error })
    }
  }
}

/** Statuses whose responses have no body. */
const BODILESS = [204, 205, 304]

/**
 * Returns a `fetch` that is limited by `outgoing`: the name is resolved once, its addresses are checked, and one of those is connected to.
 * Bounded in time and size. Rejects with TypeError and the reason as its cause, as `fetch` does.
 */
export function outgoingFetch(outgoing: Outgoing, { ms, max_bytes }: { ms: number; max_bytes: number }): Fetch {
  return async (url, init = {}) => {
    using limit = deadline(ms, init.signal)
    try {
      return await exchange(outgoing, new URL(url), { ...init, signal: limit.signal }, max_bytes)
    } catch (error) {
      if (init.signal?.aborted) throw init.signal.reason
      const cause = limit.passed ? new Error(`no response within ${ms / 1_000} seconds`) : error
      throw new TypeError('fetch failed', { cause })
    }
  }
}

type Sent = { method?: string; headers?: Record<string, string>; body?: string | undefined; signal: AbortSignal }

async function exchange(outgoing: Outgoing, target: URL, init: Sent, max_bytes: number): Promise<Response> {
  const { response, socket } = await send(outgoing, target, init)
  try {
    const read = await wholeOf(response, max_bytes)
    const status = response.statusCode ?? 0
    return new Response(BODILESS.includes(status) ? null : new Uint8Array(read), { status, headers: headersOf(response) })
  } finally {
    socket.destroy()
  }
}

async function send(
  outgoing: Outgoing,
  target: URL,
  { method = 'GET', headers = {}, body, signal }: Sent,
): Promise<{ response: IncomingMessage; socket: Socket }> {
  const secure = target.protocol === 'https:'
  const authority = parseAuthority(target.host, secure ? 443 : 80)
  if (authority === null) throw new Refused('address not allowed: it cannot be read as a host and a port')
  const socket = await connectChecked(outgoing, authority, { method, secure, signal })
  try {
    const bytes = body === undefined ? null : Buffer.from(body, 'utf8')
    const sent = request({
      createConnection: () => socket,
      method,
      path: `${target.pathname}${target.search}`,
      headers: {
        ...headers,
        host: authorityText(authority, secure ? 443 : 80),
        connection: 'close',
        ...(bytes && { 'content-length': bytes.length }),
      },
      signal,
    })
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve)
      sent.on('error', reject)
      sent.end(bytes ?? undefined)
    })
    return { response, socket }
  } catch (error) {
    socket.destroy()
    throw error
  }
}

async function wholeOf(response: IncomingMessage, max_bytes: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > max_bytes) throw new Error(`the response is larger than ${max_bytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function headersOf({ headers }: IncomingMessage): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  )
}
