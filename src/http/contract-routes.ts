import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type Endpoint, isOtherVersion, methodsOf, pathsOf } from '../contract/endpoint.ts'
import { type EndpointName, endpoints } from '../contract/endpoints.ts'
import { openApiDocument } from '../contract/openapi.ts'
import type { Readiness } from '../contract/service.ts'
import { ServiceError } from '../core/service-error.ts'
import { requireReach } from '../service/access/reach.ts'
import type { ActorContext, Context, Services } from '../service/context.ts'
import { admit } from './admission.ts'
import { compressFurther } from './compression.ts'
import type { FailedTokens } from './failed-tokens.ts'
import { handlers, type OpenContext } from './handlers.ts'
import { methodsAt } from './methods.ts'
import { type OpenStreams, signalGone } from './open-streams.ts'
import { parseInput } from './parse-input.ts'
import type { Caller } from './request-log.ts'
import { linksOf, requireOwnCursor } from './results/list-links.ts'
import type { streamHandlers } from './routes/stream-routes.ts'
import { sendResult } from './send-result.ts'
import { rowFor } from './wire-profile.ts'

/** `ctx`: null once a stream has been opened, which would keep it in memory. */
type AdmittedCall = { ctx: ActorContext | Context | null; caller: Caller }
export type AdmittedRequests = WeakMap<FastifyRequest, AdmittedCall>

export const admittedAs = (ctx: ActorContext | Context): AdmittedCall => ({
  ctx,
  caller: {
    organization_id: 'organization_id' in ctx ? ctx.organization_id : null,
    token_id: ctx.actor.token_id,
  },
})

type Options = {
  services: Services
  failed: FailedTokens
  admitted: AdmittedRequests
  open: OpenStreams
  streams: ReturnType<typeof streamHandlers>
  readiness: () => Promise<z.infer<typeof Readiness>>
  version: string
  /** Called when a stream has been opened. */
  onStream: () => void
}

type AnyHandler = (ctx: unknown, input: unknown, gone: () => AbortSignal) => Promise<unknown>

/**
 * Serves every row of the contract table: authenticate → rate limit → membership and scope →
 * parse → verb → response (specification.md#errors).
 */
export function addContractRoutes(app: FastifyInstance, options: Options) {
  const { services, failed, admitted } = options
  const handle = endpointHandler(options)
  for (const [name, endpoint] of Object.entries(endpoints) as [EndpointName, Endpoint][]) {
    if (endpoint.path.startsWith('/session') || endpoint.path.startsWith('/hooks/')) continue
    for (const path of pathsOf(endpoint))
      app.route({
        method: methodsOf(endpoint),
        url: path.replace(/\{(\w+)\}/g, ':$1'),
        onRequest: async (request, reply) => {
          // The router matches an empty path segment to a parameter, but no path of the contract has one.
          if (!requireMethod(request)) throw noSuchPath()
          if (isOtherVersion(path)) request.wire_profile = 'codegen'
          if (endpoint.stability === 'alpha') reply.header('x-api-stability', 'alpha')
          if (endpoint.access === 'token')
            admitted.set(request, admittedAs(await admit({ services, failed, endpoint }, request, reply)))
        },
        handler: (request, reply) => handle(name, endpoint, request, reply),
      })
  }
}

function endpointHandler({ services, admitted, open, streams, readiness, version, onStream }: Options) {
  let document: Buffer | undefined
  return async (name: EndpointName, endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply) => {
    if (endpoint.response === 'document') {
      document ??= compressFurther(
        Buffer.from(JSON.stringify(openApiDocument({ base_url: services.base_url, version }))),
      )
      return reply.type('application/json; charset=utf-8').send(document)
    }
    const entry = admitted.get(request)
    const ctx: ActorContext | OpenContext = entry?.ctx ?? { ...services, readiness }
    const { params, query, body } = request
    const input = parseInput(rowFor(request.wire_profile ?? 'standard', endpoint), {
      params,
      query: withAcceptedFormat(endpoint, query as Record<string, unknown>, request.headers.accept),
      body,
    })
    requireOwnCursor(endpoint, input)
    if ('actor' in ctx) await requireReach(ctx, endpoint, input)
    if (endpoint.response !== 'stream') {
      const gone = () => signalGone(ctx as Context, endpoint, reply, open)
      const result = await (handlers[name as keyof typeof handlers] as AnyHandler)(ctx, input, gone)
      const links = linksOf(endpoint, input, result, services.base_url, request.url)
      if (links !== undefined) reply.header('link', links)
      return sendResult(reply, result, request.wire_profile ?? 'standard', endpoint.response)
    }
    if (entry) entry.ctx = null
    await streams[name as keyof typeof streams](ctx as Context, input as never, request, reply)
    onStream()
  }
}

export const noSuchPath = () => new ServiceError('not_found', 'No such path.')

/** Returns whether the contract serves the path. Throws 405 when it serves the path by other methods only. */
export function requireMethod(request: FastifyRequest): boolean {
  const methods = methodsAt(request.url.split('?')[0] ?? '')
  if (methods.length > 0 && !methods.includes(request.method))
    throw new ServiceError('method_not_allowed', `${request.method} is not served here.`, {
      headers: { allow: methods.join(', ') },
    })
  return methods.length > 0
}

/** The value of `format` for each content type other than JSON. */
const formats: Record<string, string> = { 'text/csv': 'csv', 'text/x-patch': 'patch' }

type Query = Record<string, unknown>

/**
 * Returns the query with the `format` that a client requests by `Accept`, whose first type counts. A `format`
 * of the query takes precedence, and types that the operation does not have are ignored: the response is then
 * JSON.
 */
function withAcceptedFormat(
  { other_content_types = [] }: Endpoint,
  query: Query,
  accept: string | undefined,
): Query {
  const type = accept?.split(/[,;]/, 1)[0]?.trim().toLowerCase() ?? ''
  const format = other_content_types.includes(type) ? formats[type] : undefined
  return format === undefined || query.format !== undefined ? query : { ...query, format }
}
