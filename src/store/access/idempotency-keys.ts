import type { Db } from '../database.ts'

/** The owner of a key: the same text of another user or organization is another key. */
export type KeyOwner = { organization_id: number; user_id: number; key: string }

/** How long a response is kept (specification.md#create-and-resume). */
const kept = `interval '24 hours'`

/** Locks a key until the transaction ends. */
export async function lockKey(db: Db, { organization_id, user_id, key }: KeyOwner): Promise<void> {
  await db.query({
    name: 'lock_idempotency_key',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 4))',
    values: [`${organization_id} ${user_id} ${key}`],
  })
}

/**
 * Returns whether the caller has used the key within the time for which responses are kept. The response may
 * not be stored yet.
 */
export async function isKnownKey(db: Db, { organization_id, user_id, key }: KeyOwner): Promise<boolean> {
  const { rows } = await db.query({
    name: 'is_known_idempotency_key',
    text: `select 1
      from idempotency_keys
      where organization_id = $1 and user_id = $2 and key = $3 and created_at > now() - ${kept}`,
    values: [organization_id, user_id, key],
  })
  return rows.length > 0
}

/** Inserts a key, or restarts one that is older than a day. */
export async function beginKey(db: Db, { organization_id, user_id, key }: KeyOwner): Promise<void> {
  await db.query({
    name: 'begin_idempotency_key',
    text: `insert into idempotency_keys (organization_id, user_id, key)
      values ($1, $2, $3)
      on conflict (organization_id, user_id, key)
        do update set created_at = now(), request_digest = null, answer = null
      where idempotency_keys.created_at <= now() - ${kept}`,
    values: [organization_id, user_id, key],
  })
}

/**
 * Inserts the key if needed and locks its row until the transaction ends. Waits `wait_ms` at most for another
 * transaction: then the error is PostgreSQL's 55P03.
 */
export async function takeKey(
  db: Db,
  owner: KeyOwner,
  wait_ms: number,
): Promise<{ request_digest: Buffer | null; answer: string | null } | undefined> {
  const ms = Math.trunc(wait_ms)
  await db.query({ text: `set local lock_timeout = ${ms}; set local statement_timeout = ${2 * ms}` })
  await beginKey(db, owner)
  const { rows } = await db.query<{ request_digest: Buffer | null; answer: string | null }>({
    name: 'take_idempotency_key',
    text: `select request_digest, answer
      from idempotency_keys
      where organization_id = $1 and user_id = $2 and key = $3
      for update`,
    values: [owner.organization_id, owner.user_id, owner.key],
  })
  await db.query({ text: 'set local lock_timeout to default; set local statement_timeout to default' })
  return rows[0]
}

/**
 * Stores the response to the request of a key that `takeKey` has locked, with the digest of the request's
 * body.
 */
export async function saveResponse(
  db: Db,
  { organization_id, user_id, key }: KeyOwner,
  request_digest: Buffer,
  response: string,
): Promise<void> {
  await db.query({
    name: 'save_idempotent_response',
    text: `update idempotency_keys
      set request_digest = $4, answer = $5
      where organization_id = $1 and user_id = $2 and key = $3`,
    values: [organization_id, user_id, key, request_digest, response],
  })
}

/** Deletes the keys of all organizations whose time is over, with their responses. */
export async function deleteOldKeys(db: Db): Promise<void> {
  await db.query({
    name: 'delete_old_idempotency_keys',
    text: `delete from idempotency_keys where created_at <= now() - ${kept}`,
    values: [],
  })
}
