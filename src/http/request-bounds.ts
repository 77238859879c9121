import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../contract/limits.ts'
import { invalid, ServiceError } from '../core/service-error.ts'
import { refuseUnreadable } from './raw-problem.ts'

/**
 * Refuses requests with too many headers, a too long target or too many query parameters, and too many
 * concurrent requests on a connection.
 */
export function boundRequests(app: FastifyInstance) {
  // Node would silently drop headers beyond its limit; header_bytes limits them all.
  app.server.maxHeadersCount = 0
  const waiting = new WeakMap<Socket, number>()
  app.addHook('onRequest', ({ raw }, reply, next) => {
    const { socket, rawHeaders, url = '' } = raw
    waiting.set(socket, (waiting.get(socket) ?? 0) + 1)
    reply.raw.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 0) - 1))
    if ((waiting.get(socket) ?? 0) > limits.waiting_requests)
      throw new ServiceError(
        'rate_limited',
        `At most ${limits.waiting_requests} requests may wait on one connection.`,
        {
          headers: { 'retry-after': '1' },
        },
      )
    if (rawHeaders.length / 2 > limits.headers)
      throw new ServiceError('header_too_large', `A request has at most ${limits.headers} headers.`)
    if (url.length > limits.url_chars)
      throw new ServiceError(
        'uri_too_long',
        `Path and query have at most ${limits.url_chars} characters together.`,
      )
    const parameters = url.split('?', 2)[1]?.split('&').length ?? 0
    if (parameters > limits.query_parameters)
      throw invalid(['query'], `at most ${limits.query_parameters} parameters may be given`)
    next()
  })
}

/** Whether more than its headers belong to a request: without a body it has arrived when its hooks run. */
const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined ||
  (headers['content-length'] !== undefined && headers['content-length'] !== '0')

/**
 * How long a client may continue to send a body after the response, so that it can read the response before
 * the connection ends.
 */
const LINGER_MS = 1_000

/**
 * Discards a body that is not read to its end, and closes the connection of a client that keeps sending it.
 */
export function boundRest({ raw }: FastifyRequest, reply: FastifyReply) {
  // Node removes the socket from a destroyed request, so it is read before that.
  const { socket } = raw
  reply.raw.once('finish', () => {
    if (raw.complete) return
    raw.resume()
    setTimeout(() => raw.complete || socket.destroy(), LINGER_MS).unref()
  })
}

/**
 * Responds with 408 to a request that has not arrived after `ms` and closes its connection; a body that is a
 * stream has its own limits.
 */
export function boundRequestTime(app: FastifyInstance, service: { readonly base_url: string }, ms: number) {
  app.addHook('onRequest', ({ raw, routeOptions }, reply, next) => {
    next()
    if (routeOptions.config.streams_body || !hasBody(raw)) return
    const late = Object.assign(new Error('the request did not arrive in time'), {
      code: 'ERR_HTTP_REQUEST_TIMEOUT',
    })
    const { socket } = raw
    const timer = setTimeout(() => raw.complete || refuseUnreadable(late, socket, service.base_url), ms)
    raw.once('end', () => clearTimeout(timer))
    reply.raw.once('close', () => clearTimeout(timer))
  })
}
