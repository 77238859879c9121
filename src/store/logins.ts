import { type Db, only } from './database.ts'

/**
 * One proof that somebody controls an account (decisions §245). Sessions, browser tokens and links for oneself that are derived from it
 * keep both values. `at`: to the microsecond, as PostgreSQL writes it; null reaches only memberships from before invitations existed.
 */
export type Login = { id: string; at: string | null }

/**
 * SQL: whether the token `t` reaches the membership `m` of its user. A token without an organization reaches what was accepted before its
 * login, or with it; one that is bound to an organization was created by a member there.
 */
export const reaches_membership = `case when t.organization_id is null
  then m.accepted_at is null or t.login_at >= m.accepted_at or t.login_id = m.login_id else t.organization_id = m.organization_id end`

/** A login that begins now, by the clock of the database: for an account that is created with it. */
export async function beginLogin(db: Db): Promise<Login> {
  const text = 'select gen_random_uuid() as id, clock_timestamp()::text as at'
  return only((await db.query<Login>({ name: 'begin_login', text, values: [] })).rows)
}

/** The login of a token. Undefined for an unknown one. */
export async function loginOfToken(db: Db, token_id: number): Promise<Login | undefined> {
  const { rows } = await db.query<Login>({
    name: 'login_of_token',
    text: 'select login_id as id, login_at::text as at from tokens where id = $1',
    values: [token_id],
  })
  return rows[0]
}

/** Whether a token reaches every organization of its user. */
export async function reachesAllMemberships(db: Db, token_id: number): Promise<boolean> {
  const { rows } = await db.query({
    name: 'reaches_all_memberships',
    text: `select 1 from tokens t join memberships m on m.user_id = t.user_id where t.id = $1 and (${reaches_membership}) is not true limit 1`,
    values: [token_id],
  })
  return rows.length === 0
}
