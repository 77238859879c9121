import type { Db } from './database.ts'

/** One process at a time makes what the first start makes; held to the end of the transaction. */
export async function lockFirstStart(tx: Db): Promise<void> {
  await tx.query({ name: 'lock_first_start', text: 'select pg_advisory_xact_lock(4600002)', values: [] })
}

/** Whether the database answers within two seconds. Rejects when it does not. */
export async function ping(db: Db): Promise<void> {
  await db.query({ text: 'select 1', query_timeout: 2_000 })
}
