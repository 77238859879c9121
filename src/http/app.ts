import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type Endpoint, pathsOf } from '../contract/endpoint.ts'
import { type EndpointName, endpoints } from '../contract/endpoints.ts'
import { limits } from '../contract/limits.ts'
import { openApiDocument } from '../contract/openapi.ts'
import type { Readiness } from '../contract/service.ts'
import type { Rate } from '../core/access/rate-window.ts'
import type { Log } from '../core/log.ts'
import { ServiceError } from '../core/service-error.ts'
import type { Feeds } from '../live/feeds.ts'
import { requireReach } from '../service/access/reach.ts'
import type { ActorContext, Context, Services } from '../service/context.ts'
import type { Telemetry } from '../telemetry/port.ts'
import { admit, profileOf } from './admission.ts'
import { answer } from './answer.ts'
import { addCompression } from './compression.ts'
import { addCors, type CorsOrigins } from './cors.ts'
import { addErrorReference } from './error-reference.ts'
import { failedTokens } from './failed-tokens.ts'
import { handlers, type OpenContext } from './handlers.ts'
import { parseJsonBody } from './json-body.ts'
import { methodsAt } from './methods.ts'
import { type OpenStreams, signalGone, watchStreams } from './open-streams.ts'
import { parseInput } from './parse-input.ts'
import { knownError, sendProblem, toServiceError } from './problem-response.ts'
import { refuseOddities, refuseUnreadable } from './raw-problem.ts'
import { boundPatience, boundRequests, boundRest } from './request-bounds.ts'
import { watchRequests } from './request-log.ts'
import { addGitRoutes } from './routes/git-routes.ts'
import { addHookRoutes } from './routes/hook-routes.ts'
import { addSessionRoutes } from './routes/session-routes.ts'
import { streamHandlers } from './routes/stream-routes.ts'
import { addWebPage } from './routes/web-page.ts'
import { type EdgeOptions, edgeHeaders, secureEdge } from './security-headers.ts'
import { watchUnused } from './unused-connections.ts'
import { rowFor } from './wire-profile.ts'

export type AppOptions = EdgeOptions & {
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

export type HttpApp = {
  app: FastifyInstance
  /** From now on answers say that their connection ends, so that clients come back to another process. */
  drain(): void
  /** Ends all streams and refuses new requests. */
  endStreams(): void
  /** Takes no connection any more and hangs up on idle ones; resolves when requests and streams have ended. */
  close(): Promise<void>
  /** Streams that are open. */
  streams(): number
}

const no_forms = 'Forms and files are not taken: send JSON, with images as data URIs in `images`.'

type AnyHandler = (ctx: unknown, input: unknown, gone: () => AbortSignal) => Promise<unknown>

/** How long a client may take to send its headers, and its whole request; Node's own are 60 s and 300 s, looked at every 30 s. */
export const patience = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2_000 }

/** The HTTP edge: authenticate → membership → parse → verb → answer (specification.md#errors), for every row of the contract table. */
export async function createApp(options: AppOptions, timeouts = patience): Promise<HttpApp> {
  const { services, log } = options
  const app = Fastify({
    bodyLimit: limits.body_bytes,
    genReqId: () => randomUUID(),
    // One proxy, ours: what stands before its own addition to X-Forwarded-For anybody may have written.
    trustProxy: options.trust_proxy && ((_address, hop) => hop === 0),
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: false },
    exposeHeadRoutes: false,
    // Node knows one time for all requests: `boundPatience` holds it, where a body is no stream.
    requestTimeout: 0,
    http: { ...timeouts, requestTimeout: 0, maxHeaderSize: limits.header_bytes, requireHostHeader: false },
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, services.base_url),
    frameworkErrors: async (error, request, reply) => {
      boundRest(request, reply)
      request.wire_profile ??= await profileOf(services, request)
      sendProblem(request, reply.headers(edgeHeaders(request.id)), toServiceError(error), services.base_url)
    },
  })
  refuseOddities(app.server, services)
  const hangUp = watchUnused(app.server)
  app.decorateRequest('wire_profile', null)
  const failed = failedTokens(options.failed_tokens)
  const open: OpenStreams = new Set()
  const streams = streamHandlers(options.feeds, open)
  const transfers: OpenStreams = new Set()
  const unwatch = [open, transfers].map(streams => watchStreams(services, streams))
  app.addHook('onClose', async () => unwatch.forEach(stop => void stop()))
  const admitted = new WeakMap<FastifyRequest, ActorContext | Context>()
  let draining = false
  let closing = false
  let document: string | undefined

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(new ServiceError('unsupported_media_type', no_forms)))
  app.setErrorHandler(async (error, request, reply) => {
    request.wire_profile ??= await profileOf(services, request)
    return sendProblem(request, reply, knownError(error, request, log), services.base_url)
  })
  app.addHook('onRequest', async (request, reply) => boundRest(request, reply))
  watchRequests(app, options, request => {
    const ctx = admitted.get(request)
    return { organization_id: ctx && 'organization_id' in ctx ? ctx.organization_id : null, token_id: ctx?.actor.token_id ?? null }
  })
  secureEdge(app, options)
  await addCors(app, options.cors_origins)
  addCompression(app)
  boundRequests(app)
  boundPatience(app, services, timeouts.requestTimeout)
  app.addHook('onRequest', async (_request, reply) => {
    if (draining) reply.header('connection', 'close')
    if (closing) throw new ServiceError('unavailable', 'The service is stopping; try again.', { headers: { 'retry-after': '2' } })
  })

  // The page serves GET and HEAD. Other methods at an unknown path are refused before their body is read; OPTIONS has a route of @fastify/cors.
  app.addHook('onRequest', async request => {
    const is_unrouted = request.is404 || request.method === 'OPTIONS'
    if (is_unrouted && !['GET', 'HEAD'].includes(request.method) && !requireMethod(request)) throw noSuchPath()
  })
  for (const [name, endpoint] of Object.entries(endpoints) as [EndpointName, Endpoint][]) {
    if (endpoint.path.startsWith('/session') || endpoint.path.startsWith('/hooks/')) continue
    for (const path of pathsOf(endpoint))
      app.route({
        method: endpoint.method,
        url: path.replace(/\{(\w+)\}/g, ':$1'),
        onRequest: async (request, reply) => {
          // An empty part of a path fits a parameter for the router, and no path of the contract.
          if (!requireMethod(request)) throw noSuchPath()
          if (endpoint.stability === 'alpha') reply.header('x-api-stability', 'alpha')
          if (endpoint.access === 'token') admitted.set(request, await admit(services, failed, endpoint, request, reply))
        },
        handler: (request, reply) => handle(name, endpoint, request, reply),
      })
  }
  app.addHook('preHandler', async request => {
    if (Buffer.isBuffer(request.body)) request.body = parseJsonBody(request.body)
  })
  addSessionRoutes(app, services)
  addHookRoutes(app, services)
  addGitRoutes(app, { services, failed, transfers, log, admitted: (request, ctx) => void admitted.set(request, ctx) })
  addErrorReference(app)
  const pageFor = await addWebPage(app, options.web)
  app.setNotFoundHandler(async (request, reply) => {
    requireMethod(request)
    const page = await pageFor(request)
    if (page === null) throw noSuchPath()
    return reply.type('text/html; charset=utf-8').send(page)
  })

  async function handle(name: EndpointName, endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply) {
    if (endpoint.response === 'document') {
      document ??= JSON.stringify(openApiDocument({ base_url: services.base_url, version: options.version }))
      return reply.type('application/json; charset=utf-8').send(document)
    }
    const ctx: ActorContext | OpenContext = admitted.get(request) ?? { ...services, readiness: options.readiness }
    const { params, query, body } = request
    const input = parseInput(rowFor(request.wire_profile ?? 'standard', endpoint), {
      params,
      query: query as Record<string, unknown>,
      body,
    })
    if ('actor' in ctx) await requireReach(ctx, endpoint, input)
    if (endpoint.response !== 'stream') {
      const gone = () => signalGone(ctx as Context, endpoint, reply, open)
      const result = await (handlers[name as keyof typeof handlers] as AnyHandler)(ctx, input, gone)
      return answer(reply, result, request.wire_profile ?? 'standard', endpoint.response)
    }
    await streams[name as keyof typeof streams](ctx as Context, input as never, request, reply)
    if (closing) endStreams()
  }

  function endStreams() {
    closing = true
    for (const { end } of open) end()
  }
  function drain() {
    draining = true
  }
  async function close() {
    const closed = app.close()
    hangUp()
    await closed
  }
  return { app, drain, endStreams, close, streams: () => open.size }
}

const noSuchPath = () => new ServiceError('not_found', 'No such path.')

/** Whether the contract serves the path. 405 where it does so by other methods only. */
function requireMethod(request: FastifyRequest): boolean {
  const methods = methodsAt(request.url.split('?')[0] ?? '')
  if (methods.length > 0 && !methods.includes(request.method))
    throw new ServiceError('method_not_allowed', `${request.method} is not served here.`, { headers: { allow: methods.join(', ') } })
  return methods.length > 0
}
