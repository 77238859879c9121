import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Readiness } from '../contract/service.ts'
import type { Rate } from '../core/access/rate-window.ts'
import type { Log } from '../core/log.ts'
import { ServiceError } from '../core/service-error.ts'
import type { Feeds } from '../live/feeds.ts'
import type { ActorContext, Context, Services } from '../service/context.ts'
import type { Telemetry } from '../telemetry/port.ts'
import { addCompression } from './compression.ts'
import {
  type AdmittedRequests,
  addContractRoutes,
  admittedAs,
  noSuchPath,
  requireMethod,
} from './contract-routes.ts'
import { addCors, type CorsOrigins } from './cors.ts'
import { addErrorReference } from './error-reference.ts'
import { failedTokens } from './failed-tokens.ts'
import { parseJsonBody } from './json-body.ts'
import { addMcpRoutes } from './mcp/mcp-routes.ts'
import { type OpenStreams, watchStreams } from './open-streams.ts'
import { boundRequests, boundRequestTime, boundRest } from './request-bounds.ts'
import { watchRequests } from './request-log.ts'
import { addGitRoutes } from './routes/git-routes.ts'
import { addHookRoutes } from './routes/hook-routes.ts'
import { addOAuthRoutes } from './routes/oauth-routes.ts'
import { addSessionRoutes } from './routes/session-routes.ts'
import { streamHandlers } from './routes/stream-routes.ts'
import { addWebPage } from './routes/web-page.ts'
import { type EdgeOptions, secureEdge } from './security-headers.ts'
import { createServer, request_timeouts } from './server.ts'

type AppOptions = EdgeOptions & {
  services: Services
  feeds: Feeds
  readiness: () => Promise<z.infer<typeof Readiness>>
  /** Folder of the built web interface. */
  web: string
  trust_proxy: boolean
  cors_origins: CorsOrigins
  version: string
  /** Unknown tokens from one address. */
  failed_tokens: Rate
  telemetry: Telemetry
  log: Log
}

type HttpApp = {
  app: FastifyInstance
  /**
   * From now on responses announce that their connection ends, so that clients reconnect to another process.
   */
  drain(): void
  /** Ends all streams and refuses new requests. */
  endStreams(): void
  /** Accepts no new connections and closes idle ones; resolves when requests and streams have ended. */
  close(): Promise<void>
  /** The number of open streams. */
  streams(): number
}

/** Creates the HTTP edge: the contract's endpoints, sign-in, webhooks of forges, git and the page. */
export async function createApp(options: AppOptions, timeouts = request_timeouts): Promise<HttpApp> {
  const { services, log, readiness, version } = options
  const app = createServer(options, timeouts)
  const closeUnused = watchUnused(app.server)
  const failed = failedTokens(options.failed_tokens)
  const open: OpenStreams = new Set()
  const streams = streamHandlers(options.feeds, open)
  const transfers: OpenStreams = new Set()
  const unwatch = [open, transfers].map(streams => watchStreams(services, streams))
  app.addHook('onClose', async () => unwatch.forEach(stop => void stop()))
  const admitted: AdmittedRequests = new WeakMap()
  const onAdmitted = (request: FastifyRequest, ctx: ActorContext | Context) =>
    void admitted.set(request, admittedAs(ctx))
  const state = { draining: false, closing: false }

  await addEdgeHooks(app, options, { timeouts, admitted, state })
  const onStream = () => state.closing && endStreams()
  addContractRoutes(app, { services, failed, admitted, open, streams, readiness, version, onStream })
  app.addHook('preHandler', (request, _reply, next) => {
    const { body, routeOptions } = request
    if (!Buffer.isBuffer(body) || routeOptions.config.keeps_bytes) return next()
    parseJsonBody(body, 'api_body').then(value => {
      request.body = value
      next()
    }, next)
  })
  addSessionRoutes(app, services)
  addHookRoutes(app, { services, failed })
  addGitRoutes(app, { services, failed, transfers, log, admitted: onAdmitted })
  addOAuthRoutes(app, { services, failed })
  addMcpRoutes(app, {
    services,
    failed,
    open,
    onStream,
    cors_origins: options.cors_origins,
    version,
    log,
    admitted: onAdmitted,
  })
  addErrorReference(app)
  const pageFor = await addWebPage(app, options.web)
  app.setNotFoundHandler(async (request, reply) => {
    requireMethod(request)
    const page = await pageFor(request)
    if (page === null) throw noSuchPath()
    return reply.type('text/html; charset=utf-8').send(page)
  })

  function endStreams() {
    state.closing = true
    for (const { end } of open) end()
  }
  function drain() {
    state.draining = true
  }
  async function close() {
    const closed = app.close()
    closeUnused()
    await closed
  }
  return { app, drain, endStreams, close, streams: () => open.size }
}

type EdgeState = {
  timeouts: typeof request_timeouts
  admitted: AdmittedRequests
  state: { draining: boolean; closing: boolean }
}

/**
 * Adds what applies to every request before its route, in the order in which it applies: hooks without
 * promises, which cost more than most of them.
 */
async function addEdgeHooks(
  app: FastifyInstance,
  options: AppOptions,
  { timeouts, admitted, state }: EdgeState,
) {
  app.addHook('onRequest', (request, reply, next) => {
    boundRest(request, reply)
    next()
  })
  watchRequests(
    app,
    options,
    request => admitted.get(request)?.caller ?? { organization_id: null, token_id: null },
  )
  secureEdge(app, options)
  await addCors(app, options.cors_origins)
  addCompression(app)
  boundRequests(app)
  boundRequestTime(app, options.services, timeouts.requestTimeout)
  app.addHook('onRequest', (_request, reply, next) => {
    if (state.draining) reply.header('connection', 'close')
    if (state.closing)
      throw new ServiceError('unavailable', 'The service is stopping; try again.', {
        headers: { 'retry-after': '2' },
      })
    next()
  })
  // The page serves GET and HEAD. Other methods at an unknown path are refused before their body is read;
  // OPTIONS has a route of @fastify/cors.
  app.addHook('onRequest', (request, _reply, next) => {
    const is_unrouted = request.is404 || request.method === 'OPTIONS'
    if (is_unrouted && !['GET', 'HEAD'].includes(request.method) && !requireMethod(request))
      throw noSuchPath()
    next()
  })
}

/**
 * Tracks connections without a request yet: Node closes idle ones gracefully, but counts these as busy.
 * Returns the function that closes them.
 */
function watchUnused(server: Server): () => void {
  const unused = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }: IncomingMessage) => unused.delete(socket))
  return () => {
    // A request whose bytes have begun to arrive is still processed.
    for (const socket of unused) if (socket.bytesRead === 0) socket.end()
  }
}
