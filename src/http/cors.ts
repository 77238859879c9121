import type { FastifyInstance } from 'fastify'
import { methodsAt } from './methods.ts'

/** Origins whose pages may call the API: `*` is all of them, and `off`, which is no origin, none. */
export type CorsOrigins = readonly string[]

const EXPOSED = [
  ...['X-Request-Id', 'X-API-Stability', 'Link', 'Retry-After', 'Idempotent-Replayed'],
  ...['RateLimit', 'RateLimit-Policy', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
].join(', ')
/** `*` is every header but Authorization, which must be named (Fetch standard, without credentials). */
const ACCEPTED = 'Authorization, *'
const MAX_AGE_SECONDS = '7200'

/**
 * Lets pages of other origins read the API document and call `/v1`, which knows bearer tokens and no cookies, so that a page has no rights beyond its token. Never
 * with credentials, and never `/session` and git, which know cookies and passwords. A preflight of `/v1` is 204, whatever it permits.
 */
export function addCors(app: FastifyInstance, origins: CorsOrigins) {
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers
    const path = request.url.split('?')[0] ?? ''
    if (origin === undefined || !(path.startsWith('/v1/') || path === '/openapi.json')) return
    const methods = methodsAt(path)
    const is_preflight =
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined && methods.length > 0
    if (origins.includes('*') || origins.includes(origin)) {
      reply.headers({ 'access-control-allow-origin': origins.includes('*') ? '*' : origin, 'access-control-expose-headers': EXPOSED })
      if (is_preflight)
        reply.headers({
          'access-control-allow-methods': methods.join(', '),
          'access-control-allow-headers': ACCEPTED,
          'access-control-max-age': MAX_AGE_SECONDS,
        })
    }
    if (is_preflight) await reply.code(204).send()
  })
}
