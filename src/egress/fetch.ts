import { type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { onAbort } from '../core/abort.ts'
import { deadline } from '../core/deadline.ts'
import { authorityText, parseAuthority } from './authority.ts'
import { type Connect, connectByRules, connectChecked, type Outgoing } from './connect-checked.ts'
import { createInProgress, type InProgress } from './in-progress.ts'
import type { ProxyConfiguration } from './proxy-configuration.ts'
import { RefusedAddressError } from './refused.ts'

/**
 * The part of `fetch` that clients of other services need. Redirects are returned to the caller, who decides
 * about them.
 */
type Fetch = (
  url: string,
  init?: { method?: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal },
) => Promise<Response>

/**
 * Returns a `fetch` like `outgoingFetch` whose responses are streams, for requests whose caller bounds time
 * and size and aborts by `signal`.
 */
export const outgoingStream = (outgoing: Outgoing): typeof globalThis.fetch => streamBy(connectOf(outgoing))

/** `recheck` as of InProgress. */
type FetchByRules = { fetch: typeof globalThis.fetch } & Pick<InProgress, 'recheck'>

/**
 * Returns a `fetch` for requests that the service sends for a run: the same rules, refusals and limits as for
 * requests from its sandbox. Redirects are returned to the caller, so that each is a request of its own.
 */
export function fetchByRules(configuration: ProxyConfiguration): FetchByRules {
  const { caps } = configuration
  const in_progress = createInProgress(configuration)
  let bytes = 0
  const counted = new WeakMap<Socket, number>()
  const count: Count = socket => {
    const passed = socket.bytesRead + socket.bytesWritten
    bytes += passed - (counted.get(socket) ?? 0)
    counted.set(socket, passed)
    return bytes <= caps.bytes
  }
  const overCap = (): string | null => {
    if (bytes > caps.bytes) return `this run has sent and received its ${caps.bytes} bytes`
    return in_progress.size >= caps.connections
      ? `this run has ${caps.connections} connections already`
      : null
  }
  const connect: Connect = async (authority, request) => {
    const why = overCap()
    if (why !== null) {
      configuration.onRefused({
        host: authority.host,
        port: authority.port,
        method: request.method,
        reason: 'cap',
        why,
      })
      throw new RefusedAddressError(why)
    }
    const permit = in_progress.enter(authority, request.method)
    try {
      const signal = AbortSignal.any([request.signal, permit.signal])
      const socket = await connectByRules(configuration, authority, { ...request, signal })
      onAbort(permit.signal, () => socket.destroy(permit.signal.reason))
      socket.once('close', () => {
        permit[Symbol.dispose]()
        count(socket)
      })
      return socket
    } catch (error) {
      permit[Symbol.dispose]()
      throw error
    }
  }
  const stream = streamBy(connect, count)
  const fetch: typeof globalThis.fetch = (input, init = {}) => {
    const { body } = init
    const text = body instanceof URLSearchParams ? body.toString() : body
    const url = input instanceof Request ? input.url : String(input)
    configuration.onRequestText(`${init.method ?? 'GET'} ${url}\n${typeof text === 'string' ? text : ''}`)
    return stream(input, { ...init, ...(text != null && { body: text }) })
  }
  return { fetch, recheck: in_progress.recheck }
}

export const connectOf =
  (outgoing: Outgoing): Connect =>
  (authority, request) =>
    connectChecked(outgoing, authority, request)

/** Counts what a connection has sent and received; false: it is too much. */
type Count = (socket: Socket) => boolean

function streamBy(connect: Connect, count: Count = () => true): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const { url, method, headers, signal } = new Request(input, init)
    const body = typeof init.body === 'string' ? init.body : undefined
    try {
      const { response, socket } = await send(
        connect,
        new URL(url),
        { method, headers: Object.fromEntries(headers), body, signal },
        count,
      )
      try {
        response.once('close', () => socket.destroy())
        return responseOf(response, Readable.toWeb(response) as ReadableStream<Uint8Array>)
      } catch (error) {
        socket.destroy()
        throw error
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw new TypeError('fetch failed', { cause: error })
    }
  }
}

const ALL_BYTES = 'the run has sent and received all the bytes that it may'

/** Statuses whose responses have no body. */
const BODILESS = [204, 205, 304]

/** Throws at a status that a response cannot have. */
function responseOf(
  response: IncomingMessage,
  body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>,
): Response {
  const status = response.statusCode ?? 0
  if (status < 200 || status > 599)
    throw new Error(`it responded with ${status}, which is not a status of HTTP`)
  return new Response(BODILESS.includes(status) ? null : body, { status, headers: headersOf(response) })
}

/**
 * Returns a `fetch` that is limited by `outgoing`: the name is resolved once, its addresses are checked, and
 * one of those is connected to. Bounded in time and size. Rejects with TypeError and the reason as its cause,
 * as `fetch` does.
 */
export function outgoingFetch(
  outgoing: Outgoing,
  { ms, max_bytes }: { ms: number; max_bytes: number },
): Fetch {
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

type SentRequest = {
  method?: string
  headers?: Record<string, string>
  body?: string | undefined
  signal: AbortSignal
}

async function exchange(
  connect: Connect,
  target: URL,
  init: SentRequest,
  max_bytes: number,
): Promise<Response> {
  const { response, socket } = await send(connect, target, init)
  try {
    return responseOf(response, new Uint8Array(await wholeOf(response, max_bytes)))
  } finally {
    socket.destroy()
  }
}

/** Sends a request over a connection of its own, which the caller closes after the response. */
export async function send(
  connect: Connect,
  target: URL,
  { method = 'GET', headers = {}, body, signal }: SentRequest,
  count: Count = () => true,
): Promise<{ response: IncomingMessage; socket: Socket }> {
  const secure = target.protocol === 'https:'
  const authority = parseAuthority(target.host, secure ? 443 : 80)
  if (authority === null)
    throw new RefusedAddressError('address not allowed: it cannot be read as a host and a port')
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
    let [over, found]: [boolean, IncomingMessage | null] = [false, null]
    const onData = () => {
      over ||= !count(socket)
      if (over) (found ?? sent).destroy(new Error(ALL_BYTES))
    }
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      // After the parser, so that nothing of the response is lost.
      sent.once('socket', () => socket.on('data', onData))
      sent.once('response', response => {
        found = response
        resolve(response)
      })
      sent.on('error', reject)
      // The reason why the connection was closed, instead of that it was.
      socket.once('error', error => found?.destroy(error))
      sent.end(bytes ?? undefined)
    })
    if (over) throw new Error(ALL_BYTES)
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
