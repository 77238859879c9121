import type { Scope } from '../../contract/endpoint.ts'
import { effectiveScopes, type Role } from '../../core/access/permissions.ts'
import { digest, isWellFormed } from '../../core/access/token.ts'
import { ServiceError } from '../../core/service-error.ts'
import { findAccess, findLiveTokens, touchToken } from '../../store/access/token-access.ts'
import { batched } from '../../store/batch.ts'
import type { Db } from '../../store/database.ts'
import { findRunAccess, type RunHead } from '../../store/runs/run-heads.ts'
import type { AccessFinder, Actor, RunAccessFinder, Services } from '../context.ts'

/**
 * Batches lookups that arrive together into one statement: a revoked token is refused from the next lookup
 * on.
 */
export const accessFinder = (db: Db): AccessFinder =>
  batched(
    keys => findAccess(db, keys),
    ({ digest, organization_id }) => `${digest.toString('latin1')}${organization_id}`,
  )

/** The same for requests for the logs of a run. */
export const runAccessFinder = (db: Db): RunAccessFinder =>
  batched(
    keys => findRunAccess(db, keys),
    ({ digest, organization_id, run_id }) => `${digest.toString('latin1')}${organization_id} ${run_id}`,
  )

class BadToken extends ServiceError {
  constructor() {
    super('unauthorized', 'The bearer token is missing or invalid.', {
      headers: { 'www-authenticate': 'Bearer' },
    })
  }
}

/** A well-formed token that does not exist: perhaps a guess. */
export class UnknownToken extends BadToken {}

/**
 * Returns the user of a bearer token, and the role in the requested organization: null without membership, or
 * when the token is bound to another one. `run_id`: a run to read with it, which must be used only after the
 * role was checked; null: it is not in the organization. Throws 401 with the same message whether the token
 * is missing, malformed, unknown, expired or revoked.
 */
export async function authenticate(
  services: Services,
  authorization: string | undefined,
  organization_id: number | null,
  run_id: number | null = null,
): Promise<{ actor: Actor; role: Role | null; run_head: RunHead | null }> {
  const token = /^Bearer ([\x21-\x7e]{1,500})$/i.exec(authorization ?? '')?.[1]
  if (token === undefined || !isWellFormed(token)) throw new BadToken()
  const { access, head } = await findToken(services, digest(token), organization_id, run_id)
  if (!access) throw new UnknownToken()
  // For information only: the request does not depend on this write.
  if (access.idle) touchToken(services.db, access.token_id).catch(() => {})
  const {
    token_id,
    user_id,
    kind,
    wire_profile,
    token_organization_id,
    scopes,
    repository_ids,
    expires_at,
    by_program,
  } = access
  const bound_elsewhere = token_organization_id !== null && token_organization_id !== organization_id
  return {
    actor: {
      user_id,
      token_id,
      kind,
      wire_profile,
      token_organization_id,
      granted: scopes,
      repository_ids,
      expires_at,
      by_program,
    },
    role: bound_elsewhere ? null : access.role,
    run_head: head,
  }
}

async function findToken(
  services: Services,
  digest: Buffer,
  organization_id: number | null,
  run_id: number | null,
) {
  if (organization_id === null || run_id === null)
    return { access: await services.findAccess({ digest, organization_id }), head: null }
  return (
    (await services.findRunAccess({ digest, organization_id, run_id })) ?? { access: undefined, head: null }
  )
}

/** Throws 403, with the same message for an unknown organization as for one of other users. */
export function requireMembership(role: Role | null): Role {
  if (!role) throw new ServiceError('forbidden', 'You do not have access to this organization.')
  return role
}

/** Throws 403 that names the scope, and whether the token or the role lacks it. */
export function requireScope(actor: Actor, role: Role, scope: string): void {
  const scopes: readonly string[] = effectiveScopes(role, actor.granted)
  if (scopes.includes(scope)) return
  const lacking = actor.granted === null || actor.granted.includes(scope) ? `your role ${role}` : 'your token'
  throw new ServiceError('forbidden', `This needs the scope ${scope}, which ${lacking} does not have.`)
}

/** The token and scope that a stream was opened with. */
export type StreamHolder = { token_id: number; organization_id: number; scope: Scope | null }

/** Returns for each of them whether a request with the same token would still be admitted. */
export async function checkStreamAccess({ db }: Services, holders: StreamHolder[]): Promise<boolean[]> {
  const keys = new Map(
    holders.map(({ token_id, organization_id }) => [
      `${token_id} ${organization_id}`,
      { token_id, organization_id },
    ]),
  )
  const found = await findLiveTokens(db, [...keys.values()])
  const live = new Map([...keys.keys()].map((key, n) => [key, found[n]]))
  return holders.map(({ token_id, organization_id, scope }) => {
    const token = live.get(`${token_id} ${organization_id}`)
    return (
      token !== undefined && (scope === null || effectiveScopes(token.role, token.scopes).includes(scope))
    )
  })
}
