import type { FastifyRequest } from 'fastify'
import type { Endpoint } from '../contract/endpoint.ts'
import { authenticate, requireMembership } from '../service/authenticate.ts'
import type { ActorContext, Context, Services } from '../service/context.ts'
import { parseInput } from './parse-input.ts'

/**
 * Who asks, and for which organization: decided before a byte of the body is read (decisions §6).
 * 401, 403, or 400 for a path that can name no organization, with whatever else is wrong in path and query.
 */
export async function admit(services: Services, endpoint: Endpoint, request: FastifyRequest): Promise<ActorContext | Context> {
  const given = request.raw.headersDistinct.authorization ?? []
  const actor = await authenticate(services, given.length === 1 ? given[0] : undefined)
  const ctx: ActorContext = { ...services, actor }
  if (!('org_id' in endpoint.params.shape)) return ctx
  const parsed = endpoint.params.pick({ org_id: true }).safeParse(request.params)
  if (!parsed.success) throw badPath(endpoint, request)
  const organization_id = Number(parsed.data.org_id)
  return { ...ctx, organization_id, role: await requireMembership(services, actor, organization_id) }
}

function badPath(endpoint: Endpoint, request: FastifyRequest): unknown {
  return parseInput(
    { ...endpoint, body: null },
    { params: request.params, query: request.query as Record<string, unknown>, body: undefined },
  )
}
