import type { Db } from '../database.ts'

/** How long one process may wait for another one's first start. */
const WAIT_MS = 60_000

/** One process at a time makes what the first start makes; held to the end of the transaction. */
export async function lockFirstStart(tx: Db): Promise<void> {
  await tx.query({ text: `set local lock_timeout = ${WAIT_MS}; set local statement_timeout = ${WAIT_MS}` })
  await tx.query({
    name: 'lock_first_start',
    text: 'select pg_advisory_xact_lock(4600002)',
    values: [],
    query_timeout: WAIT_MS,
  })
  await tx.query({ text: 'set local lock_timeout to default; set local statement_timeout to default' })
}
