import type { Db } from '../database.ts'

/** How long a process may wait for the first start of another one. */
const LOCK_TIMEOUT_MS = 60_000

/** Serializes first starts of several processes until the transaction ends. */
export async function lockFirstStart(tx: Db): Promise<void> {
  await tx.query({
    text: `set local lock_timeout = ${LOCK_TIMEOUT_MS}; set local statement_timeout = ${LOCK_TIMEOUT_MS}`,
  })
  await tx.query({
    name: 'lock_first_start',
    text: 'select pg_advisory_xact_lock(4600002)',
    values: [],
    query_timeout: LOCK_TIMEOUT_MS,
  })
  await tx.query({ text: 'set local lock_timeout to default; set local statement_timeout to default' })
}
