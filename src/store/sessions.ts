import type { Db } from './database.ts'

export async function insertSignInLink(db: Db, digest: Buffer, user_id: number, minutes: number): Promise<void> {
  await db.query({
    name: 'insert_sign_in_link',
    text: 'insert into sign_in_links (digest, user_id, expires_at) values ($1, $2, now() + make_interval(mins => $3))',
    values: [digest, user_id, minutes],
  })
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
