import type { WireProfile } from '../../contract/organizations/tokens.ts'
import type { Role } from '../../core/access/permissions.ts'
import { type Db, onlyRow } from '../database.ts'
import { type Bind, insertRow } from '../statement.ts'
import { type Login, loginColumns, reaches_membership } from './logins.ts'

type TokenKind = 'personal' | 'service' | 'browser'

/** The user of a token, what the token may do, and the user's role in the requested organization. */
export type Access = {
  token_id: number
  user_id: number
  kind: TokenKind
  wire_profile: WireProfile
  /** The only organization that the token is valid for; null: all of its user. */
  token_organization_id: number | null
  scopes: string[] | null
  repository_ids: number[] | null
  expires_at: Date | null
  /** Whether a program works with it that signed its user in by OAuth. */
  by_program: boolean
  /** Not used in the last minute, according to the last record. */
  idle: boolean
  role: Role | null
}

/**
 * SQL: whether the token `t` is neither revoked nor expired: the one condition for requests and for open
 * streams.
 */
export const is_live = 't.revoked_at is null and (t.expires_at is null or t.expires_at > now())'

/** SQL: the columns of `Access`, of what `live_access` joins. */
export const access_columns = `t.id as token_id, t.user_id, t.kind, t.wire_profile, t.organization_id as token_organization_id, t.scopes,
  t.repository_ids, t.expires_at, t.oauth_client is not null as by_program, t.last_used_at is null or t.last_used_at < now() - interval '1 minute' as idle, m.role`
/**
 * SQL: joins the live token and the membership of each row of `requested`, which has a digest and an
 * organization.
 */
export const live_access = `join tokens t on t.digest = requested.digest and ${is_live}
  left join memberships m on m.organization_id = requested.organization_id and m.user_id = t.user_id and ${reaches_membership}`

/**
 * Returns the access of each pair of token digest and organization; undefined for an unknown, expired or
 * revoked token.
 */
export async function findAccess(
  db: Db,
  requested: { digest: Buffer; organization_id: number | null }[],
): Promise<(Access | undefined)[]> {
  const { rows } = await db.query<Access & { n: number }>({
    name: 'find_access',
    text: `select requested.n, ${access_columns}
      from unnest($1::bytea[], $2::bigint[]) with ordinality as requested (
        digest, organization_id, n
      ) ${live_access}`,
    values: [requested.map(item => item.digest), requested.map(item => item.organization_id)],
  })
  const found = new Map(rows.map(row => [row.n, row]))
  return requested.map((_item, n) => found.get(n + 1))
}

/**
 * Returns what each of these tokens may do in an organization now; undefined for one that is revoked or
 * expired, or whose user left.
 */
export async function findLiveTokens(
  db: Db,
  requested: { token_id: number; organization_id: number }[],
): Promise<({ role: Role; scopes: string[] | null } | undefined)[]> {
  const { rows } = await db.query<{ n: number; role: Role; scopes: string[] | null }>({
    name: 'find_live_tokens',
    text: `select requested.n, m.role, t.scopes
      from unnest($1::bigint[], $2::bigint[]) with ordinality as requested (token_id, organization_id, n)
      join tokens t on t.id = requested.token_id and ${is_live}
      join memberships m on m.organization_id = requested.organization_id
        and m.user_id = t.user_id
        and ${reaches_membership}`,
    values: [requested.map(item => item.token_id), requested.map(item => item.organization_id)],
  })
  const found = new Map(rows.map(row => [row.n, row]))
  return requested.map((_item, n) => found.get(n + 1))
}

/** Records that a token was used, to the minute. */
export async function touchToken(db: Db, token_id: number): Promise<void> {
  await db.query({
    name: 'touch_token',
    text: `update tokens
      set last_used_at = now()
      where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    values: [token_id],
  })
}

type NewToken = {
  user_id: number
  kind: TokenKind
  name: string
  digest: Buffer
  wire_profile: WireProfile
  expires_in_seconds: number | null
  /** Used instead of `expires_in_seconds`. */
  expires_at?: string | null
  /** The latest time at which it may expire. */
  not_after?: Date | null
  /** Its first and last characters, so that its owner can recognize it. */
  prefix?: string
  hint?: string
  organization_id?: number | null
  scopes?: string[] | null
  repository_ids?: number[] | null
  created_by?: number | null
  /** The program that works with it; absent: a person created it. */
  oauth_client?: string | null
  /** The login that the token is derived from; absent: it is a login of its own. */
  login?: Login
  /** The session that a browser token belongs to. */
  session_digest?: Buffer
}

/** Returns SQL: the time at which a new token expires. */
function expiry({ expires_in_seconds, expires_at, not_after }: NewToken, bind: Bind): string {
  const given = `${bind(expires_at ?? null)}::timestamptz`
  const after = `now() + make_interval(secs => ${bind(expires_in_seconds)})`
  return `least(coalesce(${given}, ${after}), ${bind(not_after ?? null)}::timestamptz)`
}

/**
 * Inserts a token by its digest and returns its id and expiry. It expires at the earliest of its own time and
 * `not_after`.
 */
export function insertToken(db: Db, token: NewToken): Promise<{ id: number; expires_at: Date | null }> {
  return onlyRow<{ id: number; expires_at: Date | null }>(
    db,
    insertRow(
      'tokens',
      {
        user_id: token.user_id,
        kind: token.kind,
        name: token.name,
        digest: token.digest,
        prefix: token.prefix ?? '',
        hint: token.hint ?? '',
        wire_profile: token.wire_profile,
        organization_id: token.organization_id ?? null,
        scopes: token.scopes ?? null,
        repository_ids: token.repository_ids ?? null,
        created_by: token.created_by ?? null,
        oauth_client: token.oauth_client ?? null,
        session_digest: token.session_digest ?? null,
        expires_at: bind => expiry(token, bind),
        ...loginColumns(token.login ?? null),
      },
      { end: 'returning id, expires_at' },
    ),
  )
}

/** Returns whether a token was ever created from this secret, including revoked and expired ones. */
export async function isKnownToken(db: Db, digest: Buffer): Promise<boolean> {
  const { rows } = await db.query({
    name: 'is_known_token',
    text: 'select 1 from tokens where digest = $1',
    values: [digest],
  })
  return rows.length > 0
}

/**
 * Returns whether a token was ever created, including revoked and expired ones, other than those of browsers.
 */
export async function hasTokens(db: Db): Promise<boolean> {
  const { rows } = await db.query({ text: `select 1 from tokens where kind <> 'browser' limit 1` })
  return rows.length > 0
}

/** Deletes browser tokens an hour after their end. They live 15 minutes; their rows need not outlive them. */
export async function deleteExpiredTokens(db: Db): Promise<void> {
  await db.query({
    name: 'delete_expired_tokens',
    text: `delete from tokens
      where kind = 'browser' and expires_at < now() - interval '1 hour'`,
    values: [],
  })
}

/** Returns whether the user of a token is ADMIN of any organization that it reaches. */
export async function isAdminSomewhere(db: Db, token_id: number): Promise<boolean> {
  const { rows } = await db.query({
    name: 'is_admin_somewhere',
    text: `select 1
      from tokens t
      join memberships m on m.user_id = t.user_id and ${reaches_membership}
      where t.id = $1 and m.role = 'ADMIN'
      limit 1`,
    values: [token_id],
  })
  return rows.length > 0
}
