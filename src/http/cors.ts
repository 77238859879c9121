import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { pathsOf } from '../contract/endpoint.ts'
import { MCP_PATH, mcpOperations } from '../contract/mcp/mcp-operations.ts'
import { oauthOperations } from '../contract/oauth/oauth-endpoints.ts'
import { methodsAt } from './methods.ts'

/**
 * Origins whose pages may call the API: `*` allows all of them; `off`, which is not an origin, allows none.
 */
export type CorsOrigins = readonly string[]

const EXPOSED = [
  ...['X-Request-Id', 'X-API-Stability', 'Link', 'Retry-After', 'Idempotent-Replayed', 'WWW-Authenticate'],
  ...['RateLimit', 'RateLimit-Policy', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
]
/**
 * `*` allows every header except Authorization, which must be named (Fetch standard, without credentials).
 * Browsers before 2022 ignore `*`.
 */
const ACCEPTED = ['Authorization', 'Content-Type', 'traceparent', 'tracestate', '*']
const other_open_paths: readonly string[] = [
  ...['/openapi.json', MCP_PATH],
  ...[mcpOperations.getMcpResourceMetadata, ...Object.values(oauthOperations)].flatMap(pathsOf),
]
const MAX_AGE_SECONDS = 7_200

/**
 * Lets pages of other origins read the API document and call `/v1`, which accepts bearer tokens and no
 * cookies: a page has no rights beyond its token. Never with credentials, and never for `/session` and git,
 * which use cookies and passwords. A preflight of `/v1` always returns 204.
 */
export async function addCors(app: FastifyInstance, origins: CorsOrigins) {
  await app.register(cors, {
    delegator: (request, callback) => callback(null, corsOptions(request, origins)),
  })
  app.addHook('onRequest', (request, reply, next) => {
    if (isPreflight(request)) reply.code(204).send()
    else next()
  })
}

function corsOptions(request: FastifyRequest, origins: CorsOrigins): FastifyCorsOptions {
  const { origin } = request.headers
  const path = openPath(request)
  const named = origins.find(known => known === origin && known !== '*')
  // Messages to agents are accepted from named origins only (specification.md#mcp).
  const allowed = path !== MCP_PATH && origins.includes('*') ? '*' : named
  if (origin === undefined || allowed === undefined || path === null) return { origin: false }
  return {
    origin: allowed,
    methods: methodsAt(path),
    allowedHeaders: ACCEPTED,
    exposedHeaders: EXPOSED,
    maxAge: MAX_AGE_SECONDS,
    preflight: isPreflight(request),
  }
}

function isPreflight(request: FastifyRequest): boolean {
  const { headers, method } = request
  if (
    method !== 'OPTIONS' ||
    headers.origin === undefined ||
    headers['access-control-request-method'] === undefined
  )
    return false
  const path = openPath(request)
  return path !== null && methodsAt(path).length > 0
}

/** Returns the path of a request, null if it is never open to other origins. */
function openPath(request: FastifyRequest): string | null {
  const path = request.url.split('?')[0] ?? ''
  return path.startsWith('/v1/') || other_open_paths.includes(path) ? path : null
}
