import type { Db } from '../database.ts'
import { type OutboxItem, to_tell_columns } from './outbox.ts'

export type ClaimedMark = OutboxItem & {
  /** Null: the run is deleted; `number` is its id all the same. */
  run_id: number | null
  number: number
  head_sha: string
  pushed: boolean
  /** Up to which change it is told; 0: never. */
  said: number
}

/** The head of a pull request on which somebody asked for the run shows how it stands. */
export async function insertRunMark(db: Db, organization_id: number, run_id: number, head_sha: string): Promise<void> {
  await db.query({
    name: 'insert_run_mark',
    text: `insert into run_marks (organization_id, run_id, number, repository_id, head_sha, pushed)
      select organization_id, id, id, repository_id, $3, false from runs where organization_id = $1 and id = $2 and repository_id is not null
      on conflict do nothing`,
    values: [organization_id, run_id, head_sha],
  })
}

/** Takes what is to be said, of all organizations, for `lease_seconds`: what is said of a run and a commit one process says at a time. */
export async function claimRunMarks(db: Db, limit: number, lease_seconds: number): Promise<ClaimedMark[]> {
  const { rows } = await db.query<ClaimedMark>({
    name: 'claim_run_marks',
    text: `update run_marks set tries = tries + 1, try_at = now() + make_interval(secs => $2)
      where (organization_id, id) in (
        select organization_id, id from run_marks where (said < change or run_id is null) and try_at <= now()
        order by try_at limit $1 for update skip locked)
      returning ${to_tell_columns}, said, run_id, number, head_sha, pushed`,
    values: [limit, lease_seconds],
  })
  return rows
}
