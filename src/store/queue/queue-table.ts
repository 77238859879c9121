import { allRows, type Db } from '../database.ts'

/**
 * SQL over a queue: a table whose rows are work of the background. Each has the columns `next_attempt_at`
 * (null: nothing to do now), `tries` (attempts since the last success), `lease_until` (null: no attempt is
 * running) and `epoch`, which each claim raises.
 */
export type QueueTable = {
  name: string
  /** Columns of the primary key. */
  key: string
  /** Condition on the row `q`, in addition to its time: it has work, and no earlier row has. */
  ready: string
  returning: string
}

/**
 * Returns SQL: the time of the row has come and no attempt is running, or the process of that attempt is
 * dead.
 */
export const isDue = (row: string): string =>
  `${row}.next_attempt_at <= now() and (${row}.lease_until is null or ${row}.lease_until <= now())`

/** Returns SQL: what a claim sets. `seconds`: longer than an attempt takes. */
export const claimedFor = (seconds: number | string): string =>
  `epoch = epoch + 1, tries = tries + 1, lease_until = now() + make_interval(secs => ${seconds})`

/**
 * Claims what is due of all organizations, at most `limit` rows, the longest waiting first. Processes that
 * claim at once get different rows.
 */
export function claimRows<Row extends object>(
  db: Db,
  table: QueueTable,
  limit: number,
  lease_seconds: number,
): Promise<Row[]> {
  const { name, key, ready, returning } = table
  return allRows<Row>(db, {
    name: `claim_${name}`,
    text: `update ${name}
      set ${claimedFor('$2')}
      where (${key}) in (
        select ${key}
        from ${name} q
        where ${isDue('q')} and ${ready}
        order by next_attempt_at
        limit $1
        for update skip locked
      )
      returning ${returning}`,
    values: [limit, lease_seconds],
  })
}
