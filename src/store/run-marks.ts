import type { Db } from './database.ts'

export type ClaimedMark = {
  organization_id: number
  id: number
  /** Null: the run is deleted; `number` is its id all the same. */
  run_id: number | null
  number: number
  repository_id: number
  head_sha: string
  pushed: boolean
  change: number
  said_as: string | null
  tries: number
  /** By this whoever has claimed it is told from others. */
  lease: string
}
type Claimed = Pick<ClaimedMark, 'organization_id' | 'id' | 'change' | 'lease'>

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
      returning organization_id, id, run_id, number, repository_id, head_sha, pushed, change, said_as, tries, try_at::text as lease`,
    values: [limit, lease_seconds],
  })
  return rows
}

/** It is said, or never will be (`problem`). False: somebody else has claimed it since, so that nobody knows what stands there. */
export async function settleRunMark(
  db: Db,
  { organization_id, id, change, lease }: Claimed,
  to: { said_as: string | null; problem: string | null },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'settle_run_mark',
    text: `update run_marks set said = $3, said_as = $5, problem = $6, tries = 0, try_at = now()
      where organization_id = $1 and id = $2 and try_at = $4::timestamptz`,
    values: [organization_id, id, change, lease, to.said_as, to.problem],
  })
  return rowCount === 1
}

/** It is tried again in `seconds`. */
export async function postponeRunMark(
  db: Db,
  { organization_id, id, lease }: Claimed,
  to: { seconds: number; problem: string },
): Promise<void> {
  await db.query({
    name: 'postpone_run_mark',
    text: `update run_marks set problem = $4, try_at = now() + make_interval(secs => $5)
      where organization_id = $1 and id = $2 and try_at = $3::timestamptz`,
    values: [organization_id, id, lease, to.problem, to.seconds],
  })
}

/** Whatever stands there, it is said once more. */
export async function repeatRunMark(db: Db, organization_id: number, id: number): Promise<void> {
  await db.query({
    name: 'repeat_run_mark',
    text: 'update run_marks set change = change + 1, said_as = null where organization_id = $1 and id = $2',
    values: [organization_id, id],
  })
}

/** There is nothing to say of it any more. */
export async function deleteRunMark(db: Db, organization_id: number, id: number): Promise<void> {
  await db.query({
    name: 'delete_run_mark',
    text: 'delete from run_marks where organization_id = $1 and id = $2',
    values: [organization_id, id],
  })
}
