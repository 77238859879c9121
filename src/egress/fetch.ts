import { type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { deadline } from '../core/deadline.ts'
import { authorityText, parseAuthority } from './authority.ts'
import { type Connect, connectByRules, connectChecked, type Outgoing, Refused } from './connect-checked.ts'
import type { ProxyConfiguration } from './proxy-configuration.ts'

/** The part of `fetch` that clients of other services need. Redirects are returned to the caller, who decides about them. */
type Fetch = (
  url: string,
  init?: { method?: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal },
) => Promise<Response>

/**
 * Returns a `fetch` like `outgoingFetch` whose responses are streams, for requests whose caller bounds time and size and aborts by `signal`.
 */
export const outgoingStream = (outgoing: Outgoing): typeof globalThis.fetch => streamBy(connectOf(outgoing))

/**
 * Returns a `fetch` for requests that the service sends for a run: the same rules, refusals and limits as for requests from its sandbox. Redirects
 * are returned to the caller, so that each is a request of its own.
 */
export function fetchByRules(configuration: ProxyConfiguration): typeof globalThis.fetch {
  const { caps } = configuration
  let connections = 0
  let bytes = 0
  const count = (more: number) => {
    bytes += more
    return bytes <= caps.bytes
  }
  const connect: Connect = async (authority, request) => {
    if (bytes > caps.bytes) throw new Refused(`this run has sent and received its ${caps.bytes} bytes`)
    if (connections >= caps.connections) throw new Refused(`this run has ${caps.connections} connections already`)
    connections++
    try {
      const socket = await connectByRules(configuration, authority, request)
      socket.once('close', () => connections--)
      return socket
    } catch (error) {
      connections--
      throw error
    }
  }
  const fetch = streamBy(connect, count)
  return (input, init = {}) => {
    const { body } = init
    const text = body instanceof URLSearchParams ? body.toString() : body
    const url = input instanceof Request ? input.url : String(input)
    configuration.onRequestText(`${init.method ?? 'GET'} ${url}\n${typeof text === 'string' ? text : ''}`)
    return fetch(input, { ...init, ...(text != null && { body: text }) })
  }
}

const connectOf =
  (outgoing: Outgoing): Connect =>
  (authority, request) =>
    connectChecked(outgoing, authority, request)

/** `count`: called with the bytes of a response as they come; false closes its connection. */
function streamBy(connect: Connect, count: ((bytes: number) => boolean) | null = null): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const { url, method, headers, signal } = new Request(input, init)
    const body = typeof init.body === 'string' ? init.body : undefined
    try {
      const { response, socket } = await send(connect, new URL(url), { method, headers: Object.fromEntries(headers), body, signal })
      response.once('close', () => socket.destroy())
      if (count !== null) socket.on('data', ({ length }: Buffer) => void (count(length) || response.destroy(new Error(ALL_BYTES))))
      const status = response.statusCode ?? 0
      const stream = Readable.toWeb(response) as ReadableStream<Uint8Array>
      return new Response(BODILESS.includes(status) ? null : stream, { status, headers: headersOf(response) })
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw new TypeError('fetch failed', { cause: error })
    }
  }
}

const ALL_BYTES = 'the run has received all the bytes that it may'

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
      return await exchange(connectOf(outgoing), new URL(url), { ...init, signal: limit.signal }, max_bytes)
    } catch (error) {
      if (init.signal?.aborted) throw init.signal.reason
      const cause = limit.passed ? new Error(`no response within ${ms / 1_000} seconds`) : error
      throw new TypeError('fetch failed', { cause })
    }
  }
}

type Sent = { method?: string; headers?: Record<string, string>; body?: string | undefined; signal: AbortSignal }

async function exchange(connect: Connect, target: URL, init: Sent, max_bytes: number): Promise<Response> {
  const { response, socket } = await send(connect, target, init)
  try {
    const read = await wholeOf(response, max_bytes)
    const status = response.statusCode ?? 0
    return new Response(BODILESS.includes(status) ? null : new Uint8Array(read), { status, headers: headersOf(response) })
  } finally {
    socket.destroy()
  }
}

async function send(
  connect: Connect,
  target: URL,
  { method = 'GET', headers = {}, body, signal }: Sent,
): Promise<{ response: IncomingMessage; socket: Socket }> {
  const secure = target.protocol === 'https:'
  const authority = parseAuthority(target.host, secure ? 443 : 80)
  if (authority === null) throw new Refused('address not allowed: it cannot be read as a host and a port')
  const socket = await connect(authority, { method, secure, signal })
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
