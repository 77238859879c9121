import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../core/service-error.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is a stream that may be compressed and has no fixed end. */
    streams_body?: true
    /** The route parses its body itself. */
    keeps_bytes?: true
  }
}

const CSP =
  "default-src 'self'; img-src 'self' data:; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"

export type EdgeOptions = {
  /** Names that a Host header may carry; null allows any. */
  allowed_hosts: Set<string> | null
}

/** Headers that every response carries. */
export const edgeHeaders = (request_id: string): Record<string, string> => ({
  'x-request-id': request_id,
  'cache-control': 'no-store',
  'content-security-policy': CSP,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  vary: 'Authorization, Origin, Accept-Encoding',
})

/**
 * Puts those headers on every response and refuses what no honest client sends: two Host headers, an absolute
 * target, a foreign host name (DNS rebinding), a compressed body, a body of two types.
 */
export function secureEdge(app: FastifyInstance, { allowed_hosts }: EdgeOptions) {
  app.addHook('onRequest', (request, reply, next) => {
    reply.headers(edgeHeaders(request.id))
    const {
      host = [],
      'content-encoding': encoding = [],
      'content-type': types = [],
    } = request.raw.headersDistinct
    if (host.length !== 1 && (host.length > 1 || request.raw.httpVersion !== '1.0'))
      throw new ServiceError('invalid_request', 'A request has exactly one Host header.')
    if (allowed_hosts && !allowed_hosts.has(hostName(host[0] ?? '')))
      throw new ServiceError('forbidden', 'This host name is not served here; see AGENTRUN_ALLOWED_HOSTS.')
    if (!request.raw.url?.startsWith('/'))
      throw new ServiceError('invalid_request', 'The request target must be a path.')
    if (!request.routeOptions.config.streams_body && encoding.some(name => name.toLowerCase() !== 'identity'))
      throw new ServiceError('unsupported_media_type', 'Content-Encoding is not supported.')
    if (types.length > 1)
      throw new ServiceError('invalid_request', 'A request has at most one Content-Type header.')
    next()
  })
}

/** Returns the name of a Host header without its port, in lower case. */
export const hostName = (host: string) =>
  host
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
