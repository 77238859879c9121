import { type Db, only } from './database.ts'

export async function insertSignInLink(db: Db, digest: Buffer, user_id: number, minutes: number): Promise<{ expires_at: Date }> {
  const { rows } = await db.query<{ expires_at: Date }>({
    name: 'insert_sign_in_link',
    text: 'insert into sign_in_links (digest, user_id, expires_at) values ($1, $2, now() + make_interval(mins => $3)) returning expires_at',
    values: [digest, user_id, minutes],
  })
  return only(rows)
}

/** Whoever holds a link that was not used yet cannot use it any more. */
export async function voidSignInLinks(db: Db, user_id: number): Promise<void> {
  await db.query({
    name: 'void_sign_in_links',
    text: 'delete from sign_in_links where user_id = $1 and used_at is null',
    values: [user_id],
  })
}

export async function recordSignIn(db: Db, user_id: number): Promise<void> {
  await db.query({ name: 'record_sign_in', text: 'update users set last_sign_in_at = now() where id = $1', values: [user_id] })
}

/** Uses a sign-in link up: the second caller gets undefined, as does one who comes too late. */
export async function useSignInLink(db: Db, digest: Buffer): Promise<{ user_id: number } | undefined> {
  const { rows } = await db.query<{ user_id: number }>({
    name: 'use_sign_in_link',
    text: 'update sign_in_links set used_at = now() where digest = $1 and used_at is null and expires_at > now() returning user_id',
    values: [digest],
  })
  return rows[0]
}

export async function insertBrowserSession(db: Db, digest: Buffer, user_id: number, days: number): Promise<void> {
  await db.query({
    name: 'insert_browser_session',
    text: 'insert into browser_sessions (digest, user_id, expires_at) values ($1, $2, now() + make_interval(days => $3))',
    values: [digest, user_id, days],
  })
}

export async function findBrowserSession(db: Db, digest: Buffer): Promise<{ user_id: number } | undefined> {
  const { rows } = await db.query<{ user_id: number }>({
    name: 'find_browser_session',
    text: 'select user_id from browser_sessions where digest = $1 and expires_at > now()',
    values: [digest],
  })
  return rows[0]
}

export async function deleteBrowserSession(db: Db, digest: Buffer): Promise<void> {
  await db.query({ name: 'delete_browser_session', text: 'delete from browser_sessions where digest = $1', values: [digest] })
}
