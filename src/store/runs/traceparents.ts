import type { Db } from '../database.ts'

/** Records the trace context of the request that starts or continues the turn. */
export async function recordTraceparent(db: Db, organization_id: number, run_id: number, traceparent: string): Promise<void> {
  await db.query({
    name: 'record_traceparent',
    text: 'update runs set traceparent = $3 where organization_id = $1 and id = $2',
    values: [organization_id, run_id, traceparent],
  })
}
