import { type Db, only } from './database.ts'

export type PullRequestRow = {
  id: number
  /** Null: its run was deleted, or removed from it. */
  run_id: number | null
  number: number
  state: 'open' | 'closed' | 'merged' | 'draft'
  title: string
  url: string
  head_branch: string
  base_branch: string
  head_sha: string
  files_changed: number
  additions: number
  deletions: number
  created_at: Date
}
const columns = 'id, run_id, number, state, title, url, head_branch, base_branch, head_sha, files_changed, additions, deletions, created_at'

/** Pull requests of several runs, oldest first. */
export async function listPullRequests(db: Db, organization_id: number, run_ids: number[]): Promise<PullRequestRow[]> {
  const { rows } = await db.query<PullRequestRow>({
    name: 'list_pull_requests',
    text: `select ${columns} from pull_requests where organization_id = $1 and run_id = any($2) order by id`,
    values: [organization_id, run_ids],
  })
  return rows
}

/** Takes runs off their pull requests, which stay. Answers the branches of these. */
export async function detachPullRequests(
  db: Db,
  organization_id: number,
  run_ids: number[],
): Promise<{ repository_id: number; head_branch: string }[]> {
  const { rows } = await db.query<{ repository_id: number; head_branch: string }>({
    name: 'detach_pull_requests',
    text: `update pull_requests set run_id = null, updated_at = now() where organization_id = $1 and run_id = any($2)
      returning repository_id, head_branch`,
    values: [organization_id, run_ids],
  })
  return rows
}

export type NewPullRequest = Omit<PullRequestRow, 'id' | 'run_id' | 'number' | 'state' | 'created_at'> & {
  organization_id: number
  run_id: number
  repository_id: number
  body: string
  base_sha: string
}

/**
 * The pull request of a branch: made when there is none, otherwise brought up to the new head. `created` tells which.
 * One row for a branch whatever is tried twice; numbers count up per repository.
 */
export async function savePullRequest(db: Db, pr: NewPullRequest): Promise<PullRequestRow & { created: boolean }> {
  const updated = await db.query<PullRequestRow>({
    name: 'update_pull_request',
    text: `update pull_requests set head_sha = $4, files_changed = $5, additions = $6, deletions = $7, updated_at = now()
      where organization_id = $1 and repository_id = $2 and head_branch = $3 returning ${columns}`,
    values: [pr.organization_id, pr.repository_id, pr.head_branch, pr.head_sha, pr.files_changed, pr.additions, pr.deletions],
  })
  const existing = updated.rows[0]
  if (existing) return { ...existing, created: false }
  const { rows } = await db.query<PullRequestRow>({
    name: 'insert_pull_request',
    text: `with r as (update repositories set pull_request_count = pull_request_count + 1 where organization_id = $1 and id = $2 returning pull_request_count)
      insert into pull_requests (organization_id, repository_id, run_id, number, state, title, body, url, head_branch, base_branch, base_sha, head_sha, files_changed, additions, deletions)
      select $1, $2, $3, r.pull_request_count, 'open', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 from r returning ${columns}`,
    values: [
      pr.organization_id,
      pr.repository_id,
      pr.run_id,
      pr.title,
      pr.body,
      pr.url,
      pr.head_branch,
      pr.base_branch,
      pr.base_sha,
      pr.head_sha,
      pr.files_changed,
      pr.additions,
      pr.deletions,
    ],
  })
  return { ...only(rows), created: true }
}
