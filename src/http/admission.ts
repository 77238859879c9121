import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { type Bucket, type Endpoint, org, run } from '../contract/endpoint.ts'
import type { WireProfile } from '../contract/organizations/tokens.ts'
import { effectiveScopes } from '../core/access/permissions.ts'
import { rateHeaders } from '../core/access/rate-window.ts'
import { invalid, ServiceError } from '../core/service-error.ts'
import { authenticate, requireMembership, requireScope } from '../service/access/authenticate.ts'
import { chargeOnce } from '../service/access/idempotency.ts'
import type { ChargeResult, Who } from '../service/access/rate-limiter.ts'
import type { ActorContext, Context, Services } from '../service/context.ts'
import type { FailedTokens } from './failed-tokens.ts'
import { parseInput } from './parse-input.ts'
import { rowFor } from './wire-profile.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** How the response is worded; null until a token was checked. */
    wire_profile: WireProfile | null
  }
}

type Admission = { services: Services; failed: FailedTokens; endpoint: Endpoint }

/**
 * What admission reads of a request, and the profile that it sets: a request of HTTP, or a tool call inside
 * one.
 */
type AdmittedRequest = Pick<
  FastifyRequest,
  'params' | 'query' | 'ip' | 'id' | 'traceparent' | 'wire_profile'
> & {
  raw: Pick<IncomingMessage, 'headersDistinct'>
}
export type RateHeaders = { headers(values: Record<string, string>): unknown }

/**
 * Authenticates a request, charges its rate limits and checks its organization, before a byte of the body is
 * read, in the order of specification.md#errors. Throws 401, 429, 403, or 400 for a path that can name no
 * organization, with all other mistakes in path and query.
 */
export async function admit(
  { services, failed, endpoint }: Admission,
  request: AdmittedRequest,
  reply: RateHeaders,
  credentials: string[] = request.raw.headersDistinct.authorization ?? [],
): Promise<ActorContext | Context> {
  request.wire_profile ??= 'standard'
  const organization_id = organizationOf(endpoint, request)
  const credential = credentials.length === 1 ? credentials[0] : undefined
  const { actor, role, run_head } = await authenticate(
    services,
    credential,
    organization_id,
    runOf(endpoint, request),
  ).catch(error => Promise.reject(failed.refuse(request.ip, error)))
  request.wire_profile = actor.wire_profile
  const keys = endpoint.idempotent ? (request.raw.headersDistinct['idempotency-key'] ?? []) : []
  const idempotency_key = keys.length === 1 && isKey(keys[0] ?? '') ? (keys[0] ?? null) : null
  const { token_id, user_id } = actor
  const who = {
    token_id,
    user_id,
    browser: actor.kind === 'browser',
    organization_id: role === null ? null : organization_id,
  }
  const { windows } = await charge(services, endpoint, who, idempotency_key, reply)
  // Everything else of a context is named: V8 copies a second object property by property.
  const { id: request_id, traceparent } = request
  if (!('org_id' in endpoint.params.shape)) {
    // No organization, so no role: only the scopes of the token limit it.
    if (endpoint.scope !== null) requireScope(actor, 'ADMIN', endpoint.scope)
    return { ...services, actor, request_id, traceparent, windows, idempotency_key, run_head }
  }
  if (organization_id === null) throw badPath(rowFor(actor.wire_profile, endpoint), request)
  const member = requireMembership(role)
  if (endpoint.scope !== null) requireScope(actor, member, endpoint.scope)
  if (keys.length > 0 && idempotency_key === null)
    throw invalid(['header', 'Idempotency-Key'], 'must be given once, as 1 to 255 printable ASCII characters')
  const scopes = effectiveScopes(member, actor.granted)
  return {
    ...services,
    actor,
    request_id,
    traceparent,
    windows,
    idempotency_key,
    run_head,
    organization_id,
    role: member,
    scopes,
  }
}

/**
 * Returns the wire profile for a request that was refused before its token was checked, for example one
 * without a route. Never rejects.
 */
export async function profileOf(
  services: Services,
  { url, headers: { authorization } }: FastifyRequest,
): Promise<WireProfile> {
  if (!url.startsWith('/v1/') || authorization === undefined) return 'standard'
  return authenticate(services, authorization, null).then(
    ({ actor }) => actor.wire_profile,
    () => 'standard',
  )
}

/** Charges a request to the limits of its endpoint. Throws 429 when one of them is reached. */
export async function charge(
  services: Services,
  endpoint: Pick<Endpoint, 'bucket'>,
  who: Who,
  key: string | null,
  reply: RateHeaders,
): Promise<ChargeResult> {
  if (endpoint.bucket === null) return { allowed: true, windows: [] }
  const once = endpoint.bucket === 'agent_creation' && key !== null && who.organization_id !== null
  const charged = once
    ? await chargeOnce(services, who, {
        organization_id: who.organization_id ?? 0,
        user_id: who.user_id,
        key: key ?? '',
      })
    : await services.limiter.charge(endpoint.bucket, who)
  reply.headers(
    rateHeaders(charged.windows, window => window.name !== 'token_total' || endpoint.bucket === 'logs'),
  )
  if (!charged.allowed) throw tooMany(endpoint.bucket, charged)
  return charged
}

function tooMany(bucket: Bucket, { windows }: ChargeResult): ServiceError {
  const full = windows.filter(
    window => window.retry_ms > 0 && (window.name !== 'token_total' || bucket === 'logs'),
  )
  const seconds = Math.max(1, Math.ceil(Math.max(...full.map(window => window.retry_ms)) / 1000))
  const limits = full
    .map(({ name, rate }) => `${rate.requests} requests per ${rate.seconds} s (${name})`)
    .join(' and ')
  return new ServiceError(
    'rate_limited',
    `Rate limit exceeded: ${limits}. Please try again in ${seconds} s.`,
    {
      headers: { 'retry-after': String(seconds) },
    },
  )
}

/** Returns the run whose logs are requested, which is read together with the token. */
function runOf(endpoint: Endpoint, request: AdmittedRequest): number | null {
  const parsed = endpoint.bucket === 'logs' ? run.safeParse(request.params) : undefined
  return parsed?.success ? parsed.data.agent_run_id : null
}

function organizationOf(endpoint: Endpoint, request: AdmittedRequest): number | null {
  if (!('org_id' in endpoint.params.shape)) return null
  const parsed = org.safeParse(request.params)
  return parsed.success ? parsed.data.org_id : null
}

const isKey = (text: string) => /^[\x20-\x7e]{1,255}$/.test(text)

function badPath(endpoint: Endpoint, request: AdmittedRequest): unknown {
  return parseInput(
    { ...endpoint, body: null },
    { params: request.params, query: request.query as Record<string, unknown>, body: undefined },
  )
}
