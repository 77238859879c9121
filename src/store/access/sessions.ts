import { type Db, onlyRow } from '../database.ts'
import { insertRow } from '../statement.ts'
import { type Login, login_reaches, loginColumns } from './logins.ts'

/**
 * Inserts a sign-in link by its digest and returns its expiry. `login`: what the link is derived from; null:
 * it is a login of its own, as of now. A later use does not renew the login.
 */
export function insertSignInLink(
  db: Db,
  link: { digest: Buffer; user_id: number; minutes: number; login: Login | null },
): Promise<{ expires_at: Date }> {
  return onlyRow<{ expires_at: Date }>(
    db,
    insertRow(
      'sign_in_links',
      {
        digest: link.digest,
        user_id: link.user_id,
        expires_at: bind => `now() + make_interval(mins => ${bind(link.minutes)})`,
        ...loginColumns(link.login),
      },
      { end: 'returning expires_at' },
    ),
  )
}

/**
 * Voids the unused links of a user that reach no membership beyond those of `login`. With null: those that
 * reach no membership at all.
 */
export async function voidSignInLinks(db: Db, user_id: number, login: Login | null): Promise<void> {
  await db.query({
    name: 'void_sign_in_links',
    text: `delete from sign_in_links l
      where l.user_id = $1
        and l.used_at is null
        and not exists (
          select 1
          from memberships m
          where m.user_id = l.user_id
            and ${login_reaches('l.login_at', 'l.acceptances')}
            and ($3::uuid[] is null or ${login_reaches('$2::timestamptz', '$3::uuid[]')} is not true)
        )`,
    values: [user_id, login?.at ?? null, login?.acceptances ?? null],
  })
}

export async function recordSignIn(db: Db, user_id: number): Promise<void> {
  await db.query({
    name: 'record_sign_in',
    text: 'update users set last_sign_in_at = now() where id = $1',
    values: [user_id],
  })
}

type UserLogin = { user_id: number; login: Login }
type LoginRow = { user_id: number; login_at: string | null; acceptances: string[] }
const userLogin = (row: LoginRow | undefined): UserLogin | undefined =>
  row && { user_id: row.user_id, login: { at: row.login_at, acceptances: row.acceptances } }

/** Returns the user of a sign-in link; undefined for one that is used, too old or wrong. Locks nothing. */
export async function userOfSignInLink(db: Db, digest: Buffer): Promise<number | undefined> {
  const { rows } = await db.query<{ user_id: number }>({
    name: 'user_of_sign_in_link',
    text: `select user_id
      from sign_in_links
      where digest = $1 and used_at is null and expires_at > now()`,
    values: [digest],
  })
  return rows[0]?.user_id
}

/**
 * Consumes a sign-in link; the caller has locked the user. Returns undefined for the second caller and for an
 * expired link.
 */
export async function spendSignInLink(db: Db, digest: Buffer): Promise<UserLogin | undefined> {
  const { rows } = await db.query<LoginRow>({
    name: 'use_sign_in_link',
    text: `update sign_in_links
      set used_at = now()
      where digest = $1 and used_at is null and expires_at > now()
      returning user_id, login_at::text, acceptances`,
    values: [digest],
  })
  return userLogin(rows[0])
}

/**
 * Inserts a session by the digest of its cookie. `login` null: the session is a login of its own, as of now.
 */
export async function insertBrowserSession(
  db: Db,
  session: { digest: Buffer; user_id: number; days: number; login: Login | null },
): Promise<void> {
  await db.query(
    insertRow('browser_sessions', {
      digest: session.digest,
      user_id: session.user_id,
      expires_at: bind => `now() + make_interval(days => ${bind(session.days)})`,
      ...loginColumns(session.login),
    }),
  )
}

/** Returns the user and the login of a session that has not expired, by the digest of its cookie. */
export async function findBrowserSession(db: Db, digest: Buffer): Promise<UserLogin | undefined> {
  const { rows } = await db.query<LoginRow>({
    name: 'find_browser_session',
    text: `select user_id, login_at::text, acceptances
      from browser_sessions
      where digest = $1 and expires_at > now()`,
    values: [digest],
  })
  return userLogin(rows[0])
}

/** Returns a session as `findBrowserSession`, and keeps it from being deleted until the transaction ends. */
export async function lockBrowserSession(tx: Db, digest: Buffer): Promise<UserLogin | undefined> {
  const { rows } = await tx.query<LoginRow>({
    name: 'lock_browser_session',
    text: `select user_id, login_at::text, acceptances
      from browser_sessions
      where digest = $1 and expires_at > now()
      for share`,
    values: [digest],
  })
  return userLogin(rows[0])
}

/**
 * Deletes a session, by the digest of its cookie, and revokes the bearer tokens that it was exchanged for. In
 * two statements of the caller's transaction: the second one sees a token that was inserted while the first
 * one waited.
 */
export async function deleteBrowserSession(tx: Db, digest: Buffer): Promise<void> {
  const { rows } = await tx.query<{ user_id: number }>({
    name: 'delete_browser_session',
    text: 'delete from browser_sessions where digest = $1 returning user_id',
    values: [digest],
  })
  const [ended] = rows
  if (ended === undefined) return
  await tx.query({
    name: 'revoke_session_tokens',
    text: `update tokens
      set revoked_at = now()
      where user_id = $1 and kind = 'browser' and session_digest = $2 and revoked_at is null`,
    values: [ended.user_id, digest],
  })
}
