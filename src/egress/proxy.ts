import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { orAborted } from '../core/abort.ts'
import { type Authority, parseAuthority } from './authority.ts'
import { decide, isGateway } from './decide-request.ts'
import { forward, parseTarget } from './forward.ts'
import { createInProgress, type InProgress } from './in-progress.ts'
import type { ProxyConfiguration, Reason } from './proxy-configuration.ts'
import { RefusedAddressError } from './refused.ts'
import { headOf } from './request-sample.ts'
import { openTunnel } from './tunnel.ts'

/** How many connections over the limit get a response; further ones are closed without one. */
const MAX_REFUSED_CONNECTIONS = 32

/** `recheck` as of InProgress. `close`: closes everything. */
export type EgressProxy = { server: Server; close(): void } & Pick<InProgress, 'recheck'>

/**
 * The state of one proxy. One connection may carry many plain HTTP requests, the next one before the last
 * response.
 */
type ProxyState = {
  readonly configuration: ProxyConfiguration
  readonly connections: Set<Socket>
  readonly in_progress: InProgress
  bytes: number
}
/** What is known of a request when it is refused. */
type Attempt = { wanted: Authority | null; shown: string; method?: string }

/**
 * Creates the HTTP proxy of one run: CONNECT, and plain HTTP in absolute form. Nothing goes out without a
 * rule that allows it. A refusal is 403, 400 or 429 with a line that explains it, and is reported to
 * `onRefused`; an allowed host that cannot be reached is 502. The server does not listen yet.
 */
export function createProxy(configuration: ProxyConfiguration): EgressProxy {
  const in_progress = createInProgress(configuration)
  const state: ProxyState = { configuration, connections: new Set(), in_progress, bytes: 0 }
  const server = createProxyServer(state)
  return {
    server,
    recheck: in_progress.recheck,
    close() {
      server.close()
      for (const socket of state.connections) socket.destroy()
    },
  }
}

function createProxyServer(state: ProxyState): Server {
  const { caps } = state.configuration
  const server = createServer(
    {
      requireHostHeader: false,
      headersTimeout: caps.wait_ms,
      requestTimeout: 0,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 30_000,
    },
    (incoming, response) => {
      onRequest(state, incoming, response).catch(error => {
        if (response.headersSent) response.destroy()
        else respondRefused(response, statusOf(error), textOf(error))
      })
    },
  )
  server.maxConnections = caps.connections + MAX_REFUSED_CONNECTIONS
  server.timeout = caps.idle_ms
  server.on('connection', socket => {
    state.connections.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => state.connections.delete(socket))
  })
  const unknown: Attempt = { wanted: null, shown: '' }
  server.on('drop', () =>
    refuse(state, unknown, 'cap', `this sandbox has ${server.maxConnections} connections already`),
  )
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
      return socket.destroy()
    refuse(state, unknown, 'malformed', 'the request is not well-formed HTTP')
    respondOnSocket(socket, 400, 'the request is not well-formed HTTP')
  })
  server.on('connect', (incoming, socket: Socket, head) => {
    onConnect(state, incoming, socket, head).catch(error =>
      respondOnSocket(socket, statusOf(error), textOf(error)),
    )
  })
  return server
}

function refuse(
  { configuration }: ProxyState,
  { wanted, shown, method }: Attempt,
  reason: Reason,
  why: string,
): void {
  const host = wanted?.host ?? hostIn(shown)
  configuration.onRefused({ host, port: wanted?.port ?? null, method: method ?? null, reason, why })
}

/**
 * Returns the part of a malformed target that would be its host; null: nothing, or longer than a name can be.
 * Nothing is shortened: a path may have secrets, which are recognized only whole.
 */
function hostIn(target: string): string | null {
  const [host = ''] = target.replace(/^[a-z]{1,10}:\/\//i, '').split(/[/?#]/, 1)
  return host === '' || host.length > 255 ? null : host
}

function countBytes(state: ProxyState, more: number): void {
  state.bytes += more
  if (state.bytes <= state.configuration.caps.bytes) return
  for (const socket of state.connections) socket.destroy()
}

/** Returns why a connection is refused before its rule is evaluated. */
function overCap({ configuration: { caps }, bytes, connections }: ProxyState, socket: Socket): string | null {
  if (bytes > caps.bytes) return `this sandbox has sent and received its ${caps.bytes} bytes`
  return [...connections].indexOf(socket) >= caps.connections
    ? `this sandbox has ${caps.connections} connections already`
    : null
}

async function onRequest(
  state: ProxyState,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { configuration } = state
  const { url = '', method = '' } = incoming
  const target = parseTarget(url)
  reportText(configuration, target?.authority ?? null, incoming)
  const no = (status: number, reason: Reason, why: string) => {
    refuse(state, { wanted: target?.authority ?? null, shown: url, method }, reason, why)
    respondRefused(response, status, why)
  }
  if (target === null)
    return no(400, 'malformed', 'a request names http:// and a host, and nothing before the host')
  const full = overCap(state, incoming.socket)
  if (full !== null) return no(429, 'cap', full)
  if (state.in_progress.size >= configuration.caps.connections)
    return no(429, 'cap', `this sandbox has ${configuration.caps.connections} requests in progress already`)
  using permit = state.in_progress.enter(target.authority, method)
  const { signal } = permit
  const decision = await orAborted(decide(configuration, target.authority, method), signal)
  const count = (bytes: number) => countBytes(state, bytes)
  if (decision.ok)
    return await forward(
      { configuration, to: decision.to, path: target.path, signal, count },
      incoming,
      response,
    )
  if (decision.reason === null) return respondRefused(response, decision.status, decision.why)
  no(decision.status, decision.reason, decision.why)
}

async function onConnect(
  state: ProxyState,
  incoming: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  const { configuration } = state
  const { url = '' } = incoming
  // The socket no longer belongs to the HTTP server.
  socket.setTimeout(configuration.caps.idle_ms, () => socket.destroy())
  const wanted = parseAuthority(url, null)
  reportText(configuration, wanted, incoming)
  const refused: Attempt = { wanted, shown: url, method: 'CONNECT' }
  const no = (status: number, reason: Reason, why: string) => {
    refuse(state, refused, reason, why)
    respondOnSocket(socket, status, why)
  }
  if (wanted === null) return no(400, 'malformed', 'CONNECT names a host and a port, and nothing else')
  const full = overCap(state, socket)
  if (full !== null) return no(429, 'cap', full)
  const permit = state.in_progress.enter(wanted, 'CONNECT')
  const { signal } = permit
  socket.once('close', () => permit[Symbol.dispose]())
  const decision = await orAborted(decide(configuration, wanted, 'CONNECT'), signal)
  if (!decision.ok) {
    permit[Symbol.dispose]()
    return decision.reason === null
      ? respondOnSocket(socket, 502, decision.why)
      : no(decision.status, decision.reason, decision.why)
  }
  const counted = (end: Socket) => end.on('data', (chunk: Buffer) => countBytes(state, chunk.length))
  const problem = await openTunnel({ configuration, to: decision.to, signal, counted }, socket, head)
  if (problem !== null) refuse(state, refused, 'sni', problem)
}

/** What a program sends to its model does not leave by this proxy, whichever way it takes. */
function reportText(
  { gateway, onRequestText }: ProxyConfiguration,
  target: Authority | null,
  incoming: IncomingMessage,
): void {
  if (target === null || !isGateway(gateway, target)) onRequestText(headOf(incoming))
}

const statusOf = (error: unknown) => (error instanceof RefusedAddressError ? 403 : 502)
const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
const blockedText = (why: string) => `Blocked on the way out of the sandbox: ${why}.\n`

function respondRefused(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
  response.end(status === 502 ? `${why}\n` : blockedText(why))
}

function respondOnSocket(socket: Socket, status: number, why: string): void {
  const text = status === 502 ? `${why}\n` : blockedText(why)
  // Most clients show only the first line of a response to CONNECT.
  const reason_text = `${STATUS_CODES[status]} (${why.replace(/[^ -~]/g, '?').slice(0, 300)})`
  const head = `HTTP/1.1 ${status} ${reason_text}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n`
  socket.end(head + text)
  socket.destroySoon()
}
