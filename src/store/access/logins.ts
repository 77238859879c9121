import { type Db, firstRow } from '../database.ts'
import type { Sql } from '../statement.ts'

/**
 * What a credential reaches (decisions.md#reach-of-a-credential): the memberships that were accepted before
 * `at`, and those of `acceptances`, which it accepted itself or had when it was derived. `at`: to the
 * microsecond, as PostgreSQL writes it; null reaches only memberships from before invitations existed.
 * Sessions, browser tokens and links for oneself begin with a copy.
 */
export type Login = { at: string | null; acceptances: string[] }

/** The credential that accepts: a session or a token. A browser token represents its session. */
export type Credential = { token_id: number | null; session_digest: Buffer | null }

/** Returns SQL: whether a login reaches the membership `m` of its user. */
export const login_reaches = (at: string, acceptances: string) =>
  `(m.accepted_at is null or ${at} >= m.accepted_at or m.acceptance_id = any (${acceptances}))`

/**
 * Returns SQL: whether a token reaches the membership `m` of its user. A token without an organization
 * reaches what was accepted before its login, and what it accepted itself; one that is bound to an
 * organization was created by a member there.
 */
export const token_reaches = (t: string) => `case when ${t}.organization_id is null
  then ${login_reaches(`${t}.login_at`, `${t}.acceptances`)} else ${t}.organization_id = m.organization_id end`

/** SQL: the same, of the token `t`. */
export const reaches_membership = token_reaches('t')

/** Reaches all memberships of its user. */
export const whole_account: Login = { at: 'infinity', acceptances: [] }

/**
 * Returns the columns of a credential that is derived from a login, or of one that is a login of its own, as
 * of now (null).
 */
export const loginColumns = (login: Login | null): { login_at: Sql; acceptances: Sql } => ({
  login_at: bind =>
    `case when ${bind(login === null)} then clock_timestamp() else ${bind(login?.at ?? null)}::timestamptz end`,
  acceptances: bind => `coalesce(${bind(login?.acceptances ?? null)}::uuid[], '{}')`,
})

/** Returns undefined for an unknown credential. */
export function loginOf(db: Db, { token_id, session_digest }: Credential): Promise<Login | undefined> {
  return firstRow<Login>(db, {
    name: 'login_of',
    text: `select login_at::text as at, acceptances
      from tokens
      where id = $1
      union all select login_at::text, acceptances
      from browser_sessions
      where digest = $2`,
    values: [token_id, session_digest],
  })
}

/**
 * Lets a credential of a user reach a membership: a session with its browser tokens, or one other token. What
 * it reached before stays, and no other credential of the user reaches more, whatever login it shares.
 */
export async function addAcceptance(
  db: Db,
  user_id: number,
  { token_id, session_digest }: Credential,
  acceptance_id: string,
): Promise<void> {
  await db.query({
    name: 'add_acceptance',
    text: `with acting as (
        select coalesce($3, (select session_digest from tokens where id = $2)) as session
      ),
      signed_in as (
        update browser_sessions
        set acceptances = array_append(acceptances, $4)
        where user_id = $1 and digest = (select session from acting)
      )
      update tokens
      set acceptances = array_append(acceptances, $4)
      where user_id = $1 and (id = $2 or session_digest = (select session from acting))`,
    values: [user_id, token_id, session_digest, acceptance_id],
  })
}

/** Returns whether a token reaches every organization of its user. */
export async function reachesAllMemberships(db: Db, token_id: number): Promise<boolean> {
  const { rows } = await db.query({
    name: 'reaches_all_memberships',
    text: `select 1
      from tokens t
      join memberships m on m.user_id = t.user_id
      where t.id = $1 and (${reaches_membership}) is not true
      limit 1`,
    values: [token_id],
  })
  return rows.length === 0
}
