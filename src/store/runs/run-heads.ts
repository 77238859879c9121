import type { WaitingOn } from '../../contract/runs/runs.ts'
import type { Db } from '../database.ts'
import { type RunRow, waits_on } from './runs.ts'

/** The part of a run that a page of logs shows. */
export type RunHead = Pick<
  RunRow,
  'id' | 'organization_id' | 'repository_id' | 'status' | 'status_reason' | 'created_at' | 'result' | 'metadata' | 'total_logs'
> & { waiting_on: WaitingOn | null }

/** Returns the heads of several runs, each in its organization; undefined for one that does not exist. */
export async function findRunHeads(db: Db, requested: { organization_id: number; id: number }[]): Promise<(RunHead | undefined)[]> {
  const { rows } = await db.query<RunHead & { n: number }>({
    name: 'find_run_heads',
    text: `select requested.n, r.id, r.organization_id, r.repository_id, r.status, r.status_reason, ${waits_on} as waiting_on, r.created_at, r.result, r.metadata, r.total_logs
      from unnest($1::bigint[], $2::bigint[]) with ordinality as requested (organization_id, id, n)
      join runs r on r.organization_id = requested.organization_id and r.id = requested.id`,
    values: [requested.map(item => item.organization_id), requested.map(item => item.id)],
  })
  const found = new Map(rows.map(row => [row.n, row]))
  return requested.map((_item, n) => found.get(n + 1))
}
