import { type Charge, sliceOf, type Window } from '../../core/access/rate-window.ts'
import type { Db } from '../database.ts'

type Row = { position: number; allowed: boolean; used: number; reset_ms: number; retry_ms: number }

/**
 * Charges `amount` requests to all windows, or to none when a window that refuses is full
 * (specification.md#rate-limits).
 */
export async function chargeWindows(
  db: Db,
  charges: Charge[],
  amount = 1,
): Promise<{ allowed: boolean; windows: Window[] }> {
  const { rows } = await db.query<Row>({
    name: 'charge',
    text: `select place as position, allowed, used, reset_ms, retry_ms
      from charge($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      charges.map(charge => charge.subject),
      charges.map(charge => charge.name),
      charges.map(() => amount),
      charges.map(charge => charge.rate.requests),
      charges.map(charge => charge.rate.seconds * 1000),
      charges.map(charge => sliceOf(charge.rate)),
      charges.map(charge => charge.refuses),
    ],
  })
  const windows = charges.flatMap(({ name, rate }, n) => {
    const row = rows.find(item => item.position === n + 1)
    return row ? [{ name, rate, used: row.used, reset_ms: row.reset_ms, retry_ms: row.retry_ms }] : []
  })
  return { allowed: rows[0]?.allowed ?? true, windows }
}

/** Deletes windows without a request for an hour longer than the longest window. */
export async function deleteIdleWindows(db: Db, longest_window_seconds: number): Promise<void> {
  await db.query({
    name: 'delete_idle_windows',
    text: `delete from rate_windows
      where coalesce(hits[cardinality(hits)], 0) < extract(
        epoch from now() - make_interval(secs => $1) - interval '1 hour'
      ) * 1000000`,
    values: [longest_window_seconds],
  })
}
