import type { Db } from '../database.ts'
import { claimRows, type QueueTable } from '../queue/queue-table.ts'
import { type OutboxItem, outbox_columns } from './outbox.ts'

export type ClaimedMark = OutboxItem & {
  /** Null if the run is deleted; `number` is still its id. */
  run_id: number | null
  number: number
  head_sha: string
  pushed: boolean
  /** Up to which change the forge shows it; 0: never. */
  posted_change: number
}

const run_marks: QueueTable = {
  name: 'run_marks',
  key: 'organization_id, id',
  ready: '(posted_change < change or run_id is null)',
  returning: `${outbox_columns}, posted_change, run_id, number, head_sha, pushed`,
}

/** Claims up to `limit` statuses of runs on commits: each is posted by one process at a time. */
export const claimRunMarks = (db: Db, limit: number, lease_seconds: number): Promise<ClaimedMark[]> =>
  claimRows(db, run_marks, limit, lease_seconds)

/** Inserts a status for the head of the pull request on which the run was requested. */
export async function insertRunMark(
  db: Db,
  organization_id: number,
  run_id: number,
  head_sha: string,
): Promise<void> {
  await db.query({
    name: 'insert_run_mark',
    text: `insert into run_marks (organization_id, run_id, number, repository_id, head_sha, pushed)
      select organization_id, id, id, repository_id, $3, false
      from runs
      where organization_id = $1 and id = $2 and repository_id is not null
      on conflict do nothing`,
    values: [organization_id, run_id, head_sha],
  })
}
