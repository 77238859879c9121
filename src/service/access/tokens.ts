import type { CreateTokenInput, Token } from '../../contract/organizations/tokens.ts'
import { delegatedScopes } from '../../core/access/delegation.ts'
import { effectiveScopes, type Role } from '../../core/access/permissions.ts'
import { digest, newToken, tokenPrefix } from '../../core/access/token.ts'
import { type PageRequest, pageNumbers, pageWindow } from '../../core/paging.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { holdMembership } from '../../store/access/members.ts'
import { ownRepositoryIds } from '../../store/access/repositories.ts'
import { insertToken } from '../../store/access/token-access.ts'
import {
  getToken,
  listTokens as listTokenRows,
  revokeToken as revokeTokenRow,
  type TokenRow,
  type Viewer,
} from '../../store/access/tokens.ts'
import type { Db } from '../../store/database.ts'
import type { Context } from '../context.ts'
import { audit } from './audit.ts'
import { requireScope } from './authenticate.ts'

/** A program that signs its user in by OAuth, and where its code is sent. */
type Program = { name: string; redirect_uri: string }

const iso = (time: Date | null) => time?.toISOString() ?? null
/**
 * A token sees and revokes tokens that reach no further than itself; with `org:admin` all that are bound to
 * the organization.
 */
function viewerOf({ actor, scopes }: Context): Viewer {
  const { user_id, token_id, granted, repository_ids, token_organization_id } = actor
  const unbounded = granted === null && repository_ids === null
  return {
    user_id,
    token_id,
    all: scopes.includes('org:admin') && repository_ids === null,
    anywhere: unbounded && token_organization_id === null,
    scopes: granted,
    repository_ids,
  }
}
const notFound = () => new ServiceError('not_found', 'Token not found.')

function tokenObject({ role, ...row }: TokenRow): Token {
  return {
    ...row,
    scopes: row.scopes === null ? null : role === null ? [] : effectiveScopes(role, row.scopes),
    created_at: row.created_at.toISOString(),
    expires_at: iso(row.expires_at),
    last_used_at: iso(row.last_used_at),
    revoked_at: iso(row.revoked_at),
  }
}

/**
 * Returns the caller's own tokens; for an administrator all that are bound to the organization
 * (specification.md#access).
 */
export async function listTokens(ctx: Context, query: PageRequest) {
  const window = pageWindow(query)
  const { rows, total } = await listTokenRows(ctx.db, ctx.organization_id, viewerOf(ctx), window)
  return { items: rows.map(tokenObject), total, ...pageNumbers(total, window) }
}

/**
 * Creates a token for the caller, or by an administrator for another member, bound to this organization. It
 * may do at most what the caller's token may: throws 403 for a scope or a time beyond that, 400 for a
 * repository, 404 for a user who is not a member. `program`: which is given the token by OAuth; its token
 * creates no others.
 */
export async function createToken(
  ctx: Context,
  input: CreateTokenInput,
  program: Program | null = null,
): Promise<Token & { token: string }> {
  if (ctx.actor.by_program)
    throw new ServiceError(
      'forbidden',
      'A program that signed you in cannot create tokens: create one yourself.',
    )
  const user_id = input.user_id ?? ctx.actor.user_id
  if (user_id !== ctx.actor.user_id) requireScope(ctx.actor, ctx.role, 'org:admin')
  const expiry = delegatedExpiry(ctx, input)
  return ctx.db.transaction(async tx => {
    const member = await holdMembership(tx, ctx.organization_id, user_id)
    if (!member) throw new ServiceError('not_found', 'User not found.')
    const scopes = requireDelegatedScopes(ctx, member.role, input.scopes ?? null)
    const repository_ids = await requireDelegatedRepositories(tx, ctx, input.repository_ids ?? null)
    const kind = member.kind === 'service' ? 'service' : 'personal'
    const secret = newToken(kind === 'service' ? 's' : 'p')
    const { id } = await insertToken(tx, {
      user_id,
      kind,
      name: input.name,
      digest: digest(secret),
      prefix: tokenPrefix(secret),
      hint: secret.slice(-4),
      wire_profile: input.wire_profile ?? 'standard',
      organization_id: ctx.organization_id,
      scopes,
      repository_ids,
      ...expiry,
      created_by: ctx.actor.user_id,
      oauth_client: program?.name ?? null,
    })
    const row = await getToken(tx, ctx.organization_id, { ...viewerOf(ctx), all: true }, id)
    if (!row) throw notFound()
    const { name, expires_at, wire_profile } = row
    const detail = {
      name,
      user_id,
      scopes,
      repository_ids,
      expires_at: iso(expires_at),
      wire_profile,
      ...(program && { program }),
    }
    await audit(tx, ctx, 'token.created', { type: 'token', id }, detail)
    return { ...tokenObject(row), token: secret }
  })
}

/**
 * Revokes a token: its next request is refused. A revoked token stays unchanged. Throws 404 for a token that
 * the caller does not see.
 */
export async function revokeToken(ctx: Context, token_id: number): Promise<Token> {
  const viewer = viewerOf(ctx)
  return ctx.db.transaction(async tx => {
    const revoked = await revokeTokenRow(tx, ctx.organization_id, viewer, token_id)
    const row = await getToken(tx, ctx.organization_id, viewer, token_id)
    if (!row) throw notFound()
    const { name, user_id } = row
    if (revoked) await audit(tx, ctx, 'token.revoked', { type: 'token', id: token_id }, { name, user_id })
    return tokenObject(row)
  })
}

const beyond = (field: string, message: string) =>
  new ServiceError('forbidden', message, {
    errors: [{ loc: ['body', field], msg: message, type: 'forbidden' }],
  })

function requireDelegatedScopes(
  ctx: Context,
  role: Role,
  wanted: NonNullable<CreateTokenInput['scopes']> | null,
): string[] | null {
  const { granted, repository_ids } = ctx.actor
  const result = delegatedScopes({ granted, repository_ids, scopes: ctx.scopes }, role, wanted)
  if ('given' in result) {
    if (result.given?.length !== 0) return result.given
    throw beyond('scopes', `Your token has none of the scopes of the role ${role}.`)
  }
  const who =
    result.whose === 'token' ? `your token, with your role ${ctx.role},` : `the role ${role} of its user`
  throw beyond('scopes', `A token cannot be given the scope ${result.lacking}, which ${who} does not have.`)
}

/** Treats a repository that the caller's token may not use as missing. */
async function requireDelegatedRepositories(
  tx: Db,
  ctx: Context,
  wanted: number[] | null,
): Promise<number[] | null> {
  const own = ctx.actor.repository_ids
  if (wanted === null) return own === null ? null : [...own]
  const existing = await ownRepositoryIds(tx, ctx.organization_id, wanted)
  const at = wanted.findIndex(id => !existing.includes(id) || (own !== null && !own.includes(id)))
  if (at !== -1)
    throw invalid(
      ['body', 'repository_ids', at],
      'must be a repository of this organization that your token can use',
    )
  return existing
}

/**
 * A token of the web interface is renewed as long as its user is signed in: its own expiry limits nothing.
 */
function delegatedExpiry(ctx: Context, input: CreateTokenInput) {
  const { expires_in_seconds, expires_at } = input
  if (expires_in_seconds != null && expires_at != null)
    throw invalid(['body', 'expires_at'], 'cannot be given together with expires_in_seconds')
  const now = Date.now()
  const wanted =
    expires_in_seconds != null
      ? now + expires_in_seconds * 1000
      : expires_at != null
        ? Date.parse(expires_at)
        : null
  if (wanted !== null && wanted <= now) throw invalid(['body', 'expires_at'], 'must be in the future')
  const not_after = ctx.actor.kind === 'browser' ? null : ctx.actor.expires_at
  if (wanted !== null && not_after !== null && wanted > not_after.getTime())
    throw beyond(
      expires_at != null ? 'expires_at' : 'expires_in_seconds',
      `A token cannot outlive the token that creates it: yours expires at ${not_after.toISOString()}.`,
    )
  return { expires_in_seconds: expires_in_seconds ?? null, expires_at: expires_at ?? null, not_after }
}
