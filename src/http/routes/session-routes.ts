import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Endpoint } from '../../contract/endpoint.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { ServiceError } from '../../core/service-error.ts'
import {
  acceptAsNewAccount,
  acceptAsSignedIn,
  newSessionToken,
  SESSION_SECONDS,
  signIn,
  signOut,
  viewInvitationAs,
} from '../../service/access/sessions.ts'
import type { Services } from '../../service/context.ts'
import { parseInput } from '../parse-input.ts'

const COOKIE = 'agentrun_session'
/** A code and a choice. Bodies are parsed before the cookie is known. */
const SMALL = { bodyLimit: 16_384 }

/**
 * Adds the sign-in of browsers (specification.md#access): the cookie is valid for /session alone; everything
 * else needs the bearer token that it returns.
 */
export function addSessionRoutes(app: FastifyInstance, services: Services) {
  app.post(endpoints.createSession.path, SMALL, async (request, reply) => {
    requireSameOrigin(request, services.base_url)
    const { code } = bodyOf(endpoints.createSession, request)
    const { cookie } = await signIn(services, code)
    setCookie(reply, services.base_url, cookie, SESSION_SECONDS)
    return { signed_in: true }
  })
  app.post(endpoints.createSessionToken.path, SMALL, async request => {
    requireSameOrigin(request, services.base_url)
    return newSessionToken(services, cookieOf(request))
  })
  app.post(endpoints.openInvitation.path, SMALL, async request => {
    requireSameOrigin(request, services.base_url)
    const { code } = bodyOf(endpoints.openInvitation, request)
    return viewInvitationAs(services, code, cookieOf(request))
  })
  app.post(endpoints.acceptSessionInvitation.path, SMALL, async (request, reply) => {
    requireSameOrigin(request, services.base_url)
    const { code, account } = bodyOf(endpoints.acceptSessionInvitation, request)
    if (account === 'signed_in') return acceptAsSignedIn(services, code, cookieOf(request), request.id)
    const { cookie, organization_id } = await acceptAsNewAccount(services, code, request.id)
    setCookie(reply, services.base_url, cookie, SESSION_SECONDS)
    return { organization_id }
  })
  app.delete(endpoints.deleteSession.path, SMALL, async (request, reply) => {
    requireSameOrigin(request, services.base_url)
    await signOut(services, cookieOf(request))
    setCookie(reply, services.base_url, '', 0)
    return { signed_in: false }
  })
}

const bodyOf = <Body extends z.ZodType>(endpoint: Endpoint & { body: Body }, request: FastifyRequest) =>
  parseInput(endpoint, { params: {}, query: {}, body: request.body }).body as z.output<Body>

/**
 * In addition to SameSite=Strict: a browser sends the origin of a request, which must be our own page. A
 * proxy may have changed the Host.
 */
function requireSameOrigin(request: FastifyRequest, base_url: string) {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new ServiceError('forbidden', 'Sign-in works only from the page of this service.')
  const origin = request.headers.origin
  if (
    origin !== undefined &&
    origin !== new URL(base_url).origin &&
    origin.replace(/^https?:\/\//, '') !== request.headers.host
  )
    throw new ServiceError('forbidden', 'Sign-in works only from the page of this service.')
}

function cookieOf(request: FastifyRequest): string | undefined {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]{1,100})`).exec(request.headers.cookie ?? '')?.[1]
}

function setCookie(reply: FastifyReply, base_url: string, value: string, seconds: number) {
  const secure = base_url.startsWith('https:') ? '; Secure' : ''
  reply.header(
    'set-cookie',
    `${COOKIE}=${value}; Path=/session; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`,
  )
}
