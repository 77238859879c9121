import type { ReadableStream } from 'node:stream/web'
import type { McpHttpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Scope, scopes } from '../../contract/endpoint.ts'
import { MCP_PATH, mcpOperations, RESOURCE_METADATA_PATH } from '../../contract/mcp/mcp-operations.ts'
import { mcpRequestExcess } from '../../core/json/mcp-request.ts'
import type { Log } from '../../core/log.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import type { ActorContext, Context } from '../../service/context.ts'
import { admit } from '../admission.ts'
import { requireMethod } from '../contract-routes.ts'
import type { CorsOrigins } from '../cors.ts'
import { withHeartbeats } from '../event-stream.ts'
import type { McpEdge } from './call-operation.ts'
import { cancelNamed, connectionHeader } from './cancelled-calls.ts'
import { chargeStandard } from './charge-standard.ts'
import type { McpMessage } from './mcp-server.ts'

type Options = McpEdge & {
  cors_origins: CorsOrigins
  version: string
  log: Log
  admitted: (request: FastifyRequest, ctx: ActorContext | Context) => void
}

/** What the tools need. */
const needed_scopes: readonly Scope[] = ['runs:read', 'runs:write', 'logs:read', 'repos:read', 'org:read']

/** Messages that are charged to the limits of their operations, and what each must name for that. */
const charged_as_operations: Record<string, string | null> = {
  'tools/call': 'name',
  'resources/list': null,
  'resources/read': 'uri',
}

/**
 * Adds the endpoint of the Model Context Protocol (specification.md#mcp) and the metadata that its clients
 * authenticate by.
 */
export function addMcpRoutes(app: FastifyInstance, options: Options) {
  const { services, failed, admitted } = options
  const contexts = new WeakMap<FastifyRequest, ActorContext>()
  let loaded: Promise<McpHttpHandler> | undefined
  // Loaded by the first message: most processes and starts need none.
  const handler = () => {
    loaded ??= import('./mcp-server.ts')
      .then(({ createHandler }) => createHandler(options))
      .catch(error => {
        loaded = undefined
        throw error
      })
    return loaded
  }
  app.addHook('onClose', async () => (await loaded?.catch(() => undefined))?.close())
  app.route({
    method: mcpOperations.callMcp.method,
    url: MCP_PATH,
    onRequest: async (request, reply) => {
      requireOrigin(request, services.base_url, options.cors_origins)
      const ctx = await admit({ services, failed, endpoint: mcpOperations.callMcp }, request, reply).catch(
        error => Promise.reject(withMetadata(error, services.base_url)),
      )
      contexts.set(request, ctx)
      admitted(request, ctx)
    },
    handler: async (request, reply) => {
      const caller = contexts.get(request)
      if (caller === undefined) throw new Error('the message was not admitted')
      const method = methodOf(request.body)
      if (!isOperation(method, request.body)) await chargeStandard({ edge: options, caller }, reply)
      if (method === 'initialize') reply.headers(connectionHeader())
      if (method === 'notifications/cancelled') await cancelNamed(request, caller)
      return respond(await handler(), { edge: options, request, reply, caller })
    },
  })
  for (const url of [RESOURCE_METADATA_PATH, ...mcpOperations.getMcpResourceMetadata.aliases])
    app.route({
      method: mcpOperations.getMcpResourceMetadata.method,
      url,
      onRequest: async request => void requireMethod(request),
      handler: async () => ({
        resource: services.base_url + MCP_PATH,
        authorization_servers: [services.base_url],
        resource_name: 'Agent Run Service',
        resource_documentation: `${services.base_url}/docs`,
        bearer_methods_supported: ['header'],
        scopes_supported: scopes,
      }),
    })
}

/**
 * Refuses pages of other origins, which a browser may have led here by DNS rebinding. `*` of
 * AGENTRUN_CORS_ORIGINS does not apply: a page that may start agents is named.
 */
function requireOrigin({ headers: { origin } }: FastifyRequest, base_url: string, allowed: CorsOrigins) {
  if (
    origin === undefined ||
    origin === new URL(base_url).origin ||
    (origin !== '*' && allowed.includes(origin))
  )
    return
  throw new ServiceError(
    'forbidden',
    'Pages of this origin may not send messages here; see AGENTRUN_CORS_ORIGINS.',
  )
}

/** A client without a valid token is referred to the metadata (RFC 9728). */
function withMetadata(error: unknown, base_url: string): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'unauthorized') return error
  const challenge = `Bearer resource_metadata="${base_url}${RESOURCE_METADATA_PATH}", scope="${needed_scopes.join(' ')}"`
  return new ServiceError('unauthorized', error.message, {
    headers: { ...error.headers, 'www-authenticate': challenge },
  })
}

/**
 * Returns the method of a message, '' for one without. Throws 400 for a batch, which no current revision of
 * the protocol has, and for too much.
 */
function methodOf(body: unknown): string {
  if (Array.isArray(body))
    throw new ServiceError('invalid_request', 'Batches are not supported: send one message per request.')
  const excess = mcpRequestExcess(body)
  if (excess !== null) throw invalid(['body'], excess, 'too_large')
  const { method } = typeof body === 'object' && body !== null ? (body as { method?: unknown }) : {}
  // Nothing that is listed changes during a connection, so there is nothing to subscribe to.
  if (method === 'subscriptions/listen')
    throw new ServiceError('not_found', 'Subscriptions are not supported: lists do not change.')
  return typeof method === 'string' ? method : ''
}

/**
 * Returns whether a message is handed to its operation: the SDK refuses it without what it must name, and
 * drops it without an id.
 */
function isOperation(method: string, body: unknown): boolean {
  if (!Object.hasOwn(charged_as_operations, method)) return false
  const { id, params } = body as { id?: unknown; params?: Record<string, unknown> | null }
  const named = charged_as_operations[method] ?? null
  return ['string', 'number'].includes(typeof id) && (named === null || typeof params?.[named] === 'string')
}

async function respond(
  handler: McpHttpHandler,
  { request, reply, edge, caller }: Omit<McpMessage, 'closed'>,
) {
  // The edge, Fastify and the SDK each wait for the end of a response: more listeners than Node expects, none
  // of them leaks.
  reply.raw.setMaxListeners(20)
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  const message: McpMessage = { edge, request, reply, caller, closed: gone.signal }
  const { authorization: _checked, cookie: _unused, 'content-length': _parsed, ...rest } = request.headers
  const headers = Object.entries(rest).flatMap(([name, value]) =>
    [value].flat().flatMap(one => (one === undefined ? [] : [[name, one] as [string, string]])),
  )
  const response = await handler.fetch(
    new Request(edge.services.base_url + MCP_PATH, { method: 'POST', headers, signal: gone.signal }),
    {
      parsedBody: request.body,
      authInfo: { token: '', clientId: String(caller.actor.user_id), scopes: [], extra: { message } },
    },
  )
  return sendResponse(reply, response)
}

/**
 * Sends a response of the SDK; an event stream is passed on as it comes. The edge decides whether the
 * connection stays open, because a client may close it, and a process that drains does.
 */
async function sendResponse(reply: FastifyReply, response: Response) {
  reply.code(response.status)
  for (const [name, value] of response.headers) if (name !== 'connection') reply.header(name, value)
  if (response.body === null) return reply.send()
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return reply.send(await response.text())
  reply.request.raw.socket.setTimeout(0)
  return reply
    .header('x-accel-buffering', 'no')
    .send(withHeartbeats(response.body as ReadableStream<Uint8Array>))
}
