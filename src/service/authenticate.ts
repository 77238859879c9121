import { ServiceError } from '../core/service-error.ts'
import { digest, isWellFormed } from '../core/token.ts'
import { findRole, findToken, type Role } from '../store/accounts.ts'
import type { Actor, Services } from './context.ts'

const refused = () =>
  new ServiceError('unauthorized', 'The bearer token is missing or invalid.', { headers: { 'www-authenticate': 'Bearer' } })

/** Who a bearer token stands for. 401 with the same words whether it is missing, malformed, unknown, expired or revoked. */
export async function authenticate(services: Services, authorization: string | undefined): Promise<Actor> {
  const token = /^Bearer ([\x21-\x7e]{1,500})$/i.exec(authorization ?? '')?.[1]
  if (token === undefined || !isWellFormed(token)) throw refused()
  const owner = await findToken(services.db, digest(token))
  if (!owner) throw refused()
  return { user_id: owner.user_id, token_id: owner.token_id, wire_profile: owner.wire_profile }
}

/** The caller's role. 403, in the same words for an unknown organization as for a foreign one. */
export async function requireMembership(services: Services, actor: Actor, organization_id: number): Promise<Role> {
  const role = await findRole(services.db, organization_id, actor.user_id)
  if (!role) throw new ServiceError('forbidden', 'You do not have access to this organization.')
  return role
}
