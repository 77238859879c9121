import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { endpoints } from '../contract/endpoints.ts'
import { ServiceError } from '../core/service-error.ts'
import type { Services } from '../service/context.ts'
import { newSessionToken, SESSION_SECONDS, signIn, signOut } from '../service/sessions.ts'
import { parseInput } from './parse-input.ts'

const COOKIE = 'agentrun_session'

/** The browser's way in (decisions §9): the cookie is good for /session alone, everything else wants the bearer token that it gives. */
export function addSessionRoutes(app: FastifyInstance, services: Services) {
  app.post(endpoints.createSession.path, async (request, reply) => {
    requireSameOrigin(request, services.base_url)
    const { body } = parseInput(endpoints.createSession, { params: {}, query: {}, body: request.body }) as { body: { code: string } }
    const { cookie } = await signIn(services, body.code)
    setCookie(reply, services.base_url, cookie, SESSION_SECONDS)
    return { signed_in: true }
  })
  app.post(endpoints.createSessionToken.path, async request => {
    requireSameOrigin(request, services.base_url)
    return newSessionToken(services, cookieOf(request))
  })
  app.delete(endpoints.deleteSession.path, async (request, reply) => {
    requireSameOrigin(request, services.base_url)
    await signOut(services, cookieOf(request))
    setCookie(reply, services.base_url, '', 0)
    return { signed_in: false }
  })
}

/** Beside SameSite=Strict: a browser says where a request comes from, and it must be our own page. A proxy may have changed the Host. */
function requireSameOrigin(request: FastifyRequest, base_url: string) {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new ServiceError('forbidden', 'Sign-in works from our own page only.')
  const origin = request.headers.origin
  if (origin !== undefined && origin !== new URL(base_url).origin && origin.replace(/^https?:\/\//, '') !== request.headers.host)
    throw new ServiceError('forbidden', 'Sign-in works from our own page only.')
}

function cookieOf(request: FastifyRequest): string | undefined {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]{1,100})`).exec(request.headers.cookie ?? '')?.[1]
}

function setCookie(reply: FastifyReply, base_url: string, value: string, seconds: number) {
  const secure = base_url.startsWith('https:') ? '; Secure' : ''
  reply.header('set-cookie', `${COOKIE}=${value}; Path=/session; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`)
}
