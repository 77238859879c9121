import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { onAbort } from '../core/abort.ts'
import { type Authority, authorityText, parseAuthority } from './authority.ts'
import { credentialsOf, DialError, dial, endpointOf } from './dial.ts'
import type { AllowedTarget, ProxyConfiguration } from './proxy-configuration.ts'
import { sampleBody } from './request-sample.ts'

/**
 * Hop-by-hop headers (RFC 9110 §7.6.1), headers for proxies, and the host, which the authority determines.
 */
const own_headers = new Set(
  'connection keep-alive proxy-connection proxy-authorization proxy-authenticate te trailer transfer-encoding upgrade expect host'.split(
    ' ',
  ),
)

/** Parses the absolute form `http://host[:port]/path`; null for anything else. */
export function parseTarget(target: string): { authority: Authority; path: string } | null {
  const [, host = '', path = ''] = /^http:\/\/([^/?#]+)([/?][!-~]*)?$/i.exec(target) ?? []
  const authority = parseAuthority(host, 80)
  return authority === null ? null : { authority, path: path.startsWith('/') ? path : `/${path}` }
}

/**
 * The destination of a request. `count` is called with the bytes of both bodies as they pass. `signal` ends
 * it.
 */
type ForwardInput = {
  configuration: ProxyConfiguration
  to: AllowedTarget
  path: string
  signal: AbortSignal
  count: (bytes: number) => void
}

/**
 * Forwards a plain HTTP request, with the authority as its host, and its response. Redirects are returned to
 * the client. Rejects with DialError before a response began, and with the reason of the signal. The
 * connection to the destination is closed in any case.
 */
export async function forward(
  { configuration, to, path, signal, count }: ForwardInput,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const host = authorityText(to, 80)
  const upstream = to.way.kind === 'upstream' ? to.way.url : null
  const is_egress = to.way.kind !== 'gateway'
  // A model may be silent for longer; the gateway itself ends what takes too long.
  if (!is_egress) incoming.socket.setTimeout(0)
  const socket = upstream === null ? await dial(configuration, to, signal) : null
  if (incoming.socket.destroyed) {
    socket?.destroy()
    throw new DialError('the connection was closed')
  }
  const chunked = incoming.headers['transfer-encoding'] !== undefined
  const outgoing = request({
    ...(upstream === null ? {} : endpointOf(upstream)),
    ...(socket !== null && { createConnection: () => socket }),
    method: incoming.method ?? 'GET',
    path: upstream === null ? path : `http://${host}${path}`,
    headers: [
      ...['Host', host, 'Connection', 'close', 'Via', '1.1 agentrun'],
      ...passed(incoming),
      ...(chunked ? ['Transfer-Encoding', 'chunked'] : []),
      ...(upstream === null ? [] : Object.entries(credentialsOf(upstream)).flat()),
    ],
    timeout: is_egress ? configuration.caps.idle_ms : 0,
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  outgoing.on('response', found => {
    found.on('error', reject)
    try {
      response.writeHead(found.statusCode ?? 502, passed(found))
    } catch {
      return outgoing.destroy(new Error('its response is not HTTP'))
    }
    if (is_egress) found.on('data', (chunk: Buffer) => count(chunk.length))
    found.pipe(response)
  })
  outgoing.on('timeout', () => outgoing.destroy(new Error('no response')))
  outgoing.on('error', reject)
  response.on('close', resolve)
  incoming.on('error', reject)
  if (chunked || incoming.headers['content-length'] !== undefined) {
    if (is_egress) {
      incoming.on('data', (chunk: Buffer) => count(chunk.length))
      sampleBody(incoming, configuration.onRequestText)
    }
    incoming.pipe(outgoing)
  } else outgoing.end()
  using _ = onAbort(signal, () => reject(signal.reason))
  return await promise.finally(() => outgoing.destroy())
}

/** Returns the end-to-end headers as they were written. */
function passed({ rawHeaders, headers }: IncomingMessage): string[] {
  // Headers that frame the body are always forwarded, even when listed in Connection.
  const named = (headers.connection ?? '')
    .split(',')
    .flatMap(name => (/^\s*content-length\s*$/i.test(name) ? [] : [name.trim().toLowerCase()]))
  return rawHeaders.flatMap((name, index) => {
    const lower = name.toLowerCase()
    return index % 2 === 1 || own_headers.has(lower) || named.includes(lower)
      ? []
      : [name, rawHeaders[index + 1] ?? '']
  })
}
