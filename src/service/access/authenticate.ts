import type { Scope } from '../../contract/endpoint.ts'
import { effectiveScopes, type Role } from '../../core/access/permissions.ts'
import { digest, isWellFormed } from '../../core/access/token.ts'
import { ServiceError } from '../../core/service-error.ts'
import { type Access, findAccess, touchToken } from '../../store/access/accounts.ts'
import { findLiveTokens } from '../../store/access/tokens.ts'
import { batched } from '../../store/batch.ts'
import type { Db } from '../../store/database.ts'
import type { Actor, Services } from '../context.ts'

export type AccessFinder = (key: { digest: Buffer; organization_id: number | null }) => Promise<Access | undefined>

/** One statement for all who ask in the same turn of the event loop: a revoked token is refused by the very next one. */
export const accessFinder = (db: Db): AccessFinder => batched(keys => findAccess(db, keys))

class BadToken extends ServiceError {
  constructor() {
    super('unauthorized', 'The bearer token is missing or invalid.', { headers: { 'www-authenticate': 'Bearer' } })
  }
}

/** It looked like a token, and was looked for in vain: perhaps a guess. */
export class UnknownToken extends BadToken {}

/**
 * Who a bearer token stands for, and the role in the organization that is asked for: null without membership, or when the token is bound
 * to another. `alongside` is called once the database is asked, for what can be asked with it. 401 with the same words whether it is missing, malformed, unknown, expired or revoked.
 */
export async function authenticate(
  services: Services,
  authorization: string | undefined,
  organization_id: number | null,
  alongside: () => void = () => {},
): Promise<{ actor: Actor; role: Role | null }> {
  const token = /^Bearer ([\x21-\x7e]{1,500})$/i.exec(authorization ?? '')?.[1]
  if (token === undefined || !isWellFormed(token)) throw new BadToken()
  alongside()
  const access = await services.findAccess({ digest: digest(token), organization_id })
  if (!access) throw new UnknownToken()
  // For information only: whether it is written must not decide whether the request is answered.
  if (access.idle) touchToken(services.db, access.token_id).catch(() => {})
  const { token_id, user_id, kind, wire_profile, token_organization_id, scopes, repository_ids, expires_at } = access
  const elsewhere = token_organization_id !== null && token_organization_id !== organization_id
  return {
    actor: { user_id, token_id, kind, wire_profile, token_organization_id, granted: scopes, repository_ids, expires_at },
    role: elsewhere ? null : access.role,
  }
}

/** 403, in the same words for an unknown organization as for a foreign one. */
export function requireMembership(role: Role | null): Role {
  if (!role) throw new ServiceError('forbidden', 'You do not have access to this organization.')
  return role
}

/** 403 that names the scope, and says whether it is the token or the role that lacks it. */
export function requireScope(actor: Actor, role: Role, scope: string): void {
  const scopes: readonly string[] = effectiveScopes(role, actor.granted)
  if (scopes.includes(scope)) return
  const lacking = actor.granted === null || actor.granted.includes(scope) ? `your role ${role}` : 'your token'
  throw new ServiceError('forbidden', `This needs the scope ${scope}, which ${lacking} does not have.`)
}

/** What a stream was opened with. */
export type StreamHolder = { token_id: number; organization_id: number; scope: Scope | null }

/** For each of them, whether a request with the same token would still be let in. */
export async function stillMay({ db }: Services, holders: StreamHolder[]): Promise<boolean[]> {
  const asked = new Map(holders.map(({ token_id, organization_id }) => [`${token_id} ${organization_id}`, { token_id, organization_id }]))
  const found = await findLiveTokens(db, [...asked.values()])
  const live = new Map([...asked.keys()].map((key, n) => [key, found[n]]))
  return holders.map(({ token_id, organization_id, scope }) => {
    const token = live.get(`${token_id} ${organization_id}`)
    return token !== undefined && (scope === null || effectiveScopes(token.role, token.scopes).includes(scope))
  })
}
