import { changedOne, type Db } from '../database.ts'

/**
 * Returns a run and every other run on the branch of one of its pull requests, in the order in which they are
 * locked. Empty when the run is not in this organization.
 */
export async function listRunsOfPullRequests(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: 'list_runs_of_pull_requests',
    text: `with run as (
        select organization_id, id, repository_id, branch
        from runs
        where organization_id = $1 and id = $2
      ),
      pr as (
        select p.organization_id, p.repository_id, p.head_branch, p.run_id
        from pull_requests p
        join run using (organization_id)
        where p.run_id = run.id or (p.repository_id = run.repository_id and p.head_branch = run.branch)
      )
      select id
      from run
      union select r.id
      from runs r
      join pr on r.organization_id = pr.organization_id and r.id = pr.run_id
      union select r.id
      from runs r
      join pr on r.organization_id = pr.organization_id
        and r.repository_id = pr.repository_id
        and r.branch = pr.head_branch
      order by id`,
    values: [organization_id, run_id],
  })
  return rows.map(row => row.id)
}

/** Returns false when the run already has that value, or does not exist. */
export function setBanned(
  db: Db,
  organization_id: number,
  run_id: number,
  banned: boolean,
): Promise<boolean> {
  return changedOne(db, {
    name: 'set_banned',
    text: `update runs
      set banned = $3, updated_at = now()
      where organization_id = $1 and id = $2 and banned <> $3`,
    values: [organization_id, run_id, banned],
  })
}
