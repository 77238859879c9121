import type { WaitingOn } from '../../contract/runs/runs.ts'
import { type Access, access_columns, live_access } from '../access/token-access.ts'
import type { Db } from '../database.ts'
import { type RunRow, waits_on } from './runs.ts'

/** The part of a run that a page of logs shows. */
export type RunHead = Pick<
  RunRow,
  | 'id'
  | 'organization_id'
  | 'repository_id'
  | 'status'
  | 'status_reason'
  | 'created_at'
  | 'result'
  | 'metadata'
  | 'total_logs'
> & { waiting_on: WaitingOn | null }

export type RunAccess = { access: Access; head: RunHead | null }

/**
 * Returns the access of each digest and organization with a run of that organization: logs are requested most
 * often, so both are one statement. `head`: null for a run that does not exist. Undefined for an unknown,
 * expired or revoked token.
 */
export async function findRunAccess(
  db: Db,
  requested: { digest: Buffer; organization_id: number; run_id: number }[],
): Promise<(RunAccess | undefined)[]> {
  const { rows } = await db.query<Access & (RunHead | { id: null }) & { n: number }>({
    name: 'find_run_access',
    text: `select requested.n, ${access_columns}, r.id, r.organization_id, r.repository_id, r.status,
        r.status_reason, ${waits_on} as waiting_on, r.created_at, r.result, r.metadata, r.total_logs
      from unnest(
        $1::bytea[], $2::bigint[], $3::bigint[]
      ) with ordinality as requested (digest, organization_id, run_id, n) ${live_access}
      left join runs r on r.organization_id = requested.organization_id and r.id = requested.run_id`,
    values: [
      requested.map(item => item.digest),
      requested.map(item => item.organization_id),
      requested.map(item => item.run_id),
    ],
  })
  const found = new Map(rows.map(row => [row.n, { access: row, head: row.id === null ? null : row }]))
  return requested.map((_item, n) => found.get(n + 1))
}
