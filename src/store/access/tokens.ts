import type { WireProfile } from '../../contract/organizations/tokens.ts'
import type { Role } from '../../core/access/permissions.ts'
import type { Window } from '../../core/paging.ts'
import { changedOne, type Db, firstRow } from '../database.ts'
import { listPage } from '../list-page.ts'
import { reaches_membership, token_reaches } from './logins.ts'

export type TokenRow = {
  id: number
  name: string
  kind: 'personal' | 'service'
  prefix: string
  hint: string
  scopes: string[] | null
  repository_ids: number[] | null
  wire_profile: WireProfile
  organization_id: number | null
  user_id: number
  created_by: number | null
  created_at: Date
  expires_at: Date | null
  last_used_at: Date | null
  revoked_at: Date | null
  oauth_client: string | null
  /** The role of its user in the requested organization; null without membership. */
  role: Role | null
}

/**
 * The viewer: `all` sees every token that is bound to the organization; others see their own tokens that
 * reach no further than the viewing token, whose bounds are `scopes` and `repository_ids`, null for none.
 * `anywhere`: the viewing token is limited only by its login.
 */
export type Viewer = {
  user_id: number
  /** The viewing token: it always sees itself. */
  token_id: number
  all: boolean
  anywhere: boolean
  scopes: readonly string[] | null
  repository_ids: readonly number[] | null
}

const columns = `t.id, t.name, t.kind, t.prefix, t.hint, t.scopes, t.repository_ids, t.wire_profile, t.organization_id, t.user_id, t.created_by,
  t.created_at, t.expires_at, t.last_used_at, t.revoked_at, t.oauth_client, m.role`
const member = 'left join memberships m on m.organization_id = $1 and m.user_id = t.user_id'
/** SQL: whether the token $7 reaches every organization of its user that the token `t` reaches. */
const reaches_no_further = `not exists (select 1 from memberships m join tokens v on v.id = $7
    where m.user_id = t.user_id and (${reaches_membership}) and (${token_reaches('v')}) is not true)`
/**
 * $1 organization, $2 to $7 the viewer. A token without an organization is private to its user, like browser
 * tokens.
 */
const visible = `t.kind <> 'browser' and (t.id = $7 or case when t.organization_id is null then t.user_id = $2 and $4 and ${reaches_no_further}
  else t.organization_id = $1 and ($3 or t.user_id = $2 and ($5::text[] is null or t.scopes <@ $5)
    and ($6::bigint[] is null or t.repository_ids <@ $6)) end)`
const valuesOf = (
  organization_id: number,
  { user_id, token_id, all, anywhere, scopes, repository_ids }: Viewer,
) => [organization_id, user_id, all, anywhere, scopes, repository_ids, token_id]

/** Returns one page, newest first. */
export async function listTokens(
  db: Db,
  organization_id: number,
  viewer: Viewer,
  window: Window,
): Promise<{ rows: TokenRow[]; total: number }> {
  const list = { columns, from: `tokens t ${member}`, where: visible, key: 't.id', order: 'desc' } as const
  return listPage(db, { name: 'list_tokens', ...list }, valuesOf(organization_id, viewer), window)
}

/** Returns a token that the viewer may see (docs/specification.md#access); undefined for every other. */
export function getToken(
  db: Db,
  organization_id: number,
  viewer: Viewer,
  token_id: number,
): Promise<TokenRow | undefined> {
  return firstRow<TokenRow>(db, {
    name: 'get_token',
    text: `select ${columns} from tokens t ${member} where ${visible} and t.id = $8`,
    values: [...valuesOf(organization_id, viewer), token_id],
  })
}

/** Returns false for a token that is already revoked, or that the viewer does not see. */
export function revokeToken(
  db: Db,
  organization_id: number,
  viewer: Viewer,
  token_id: number,
): Promise<boolean> {
  return changedOne(db, {
    name: 'revoke_token',
    text: `update tokens t
      set revoked_at = now()
      where ${visible} and t.id = $8 and t.revoked_at is null`,
    values: [...valuesOf(organization_id, viewer), token_id],
  })
}

/** Revokes the tokens of a user that are bound to an organization; returns their ids. */
export async function revokeTokensOf(db: Db, organization_id: number, user_id: number): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: 'revoke_tokens_of',
    text: `update tokens
      set revoked_at = now()
      where organization_id = $1 and user_id = $2 and revoked_at is null
      returning id`,
    values: [organization_id, user_id],
  })
  return rows.map(row => row.id).sort((a, b) => a - b)
}
