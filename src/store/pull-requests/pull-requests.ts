import type { Window } from '../../core/paging.ts'
import { allRows, type Db, firstRow } from '../database.ts'
import { conditionsOf, listPage } from '../list-page.ts'
import { insertSql, now, statement, updateRow } from '../statement.ts'

export type PullRequestState = 'open' | 'closed' | 'merged' | 'draft'
type PullRequestReview = 'pass' | 'fail' | 'inconclusive' | 'none'
export type PullRequestRow = {
  id: number
  organization_id: number
  repository_id: number
  /** Null: its run was deleted, or removed from it. */
  run_id: number | null
  /** Its number on the forge, if it is on one, otherwise a counter here. */
  number: number
  remote_number: number | null
  /** Whether it is a draft on the forge, as last sent or received. */
  remote_draft: boolean | null
  state: PullRequestState
  title: string
  url: string
  head_branch: string
  base_branch: string
  base_sha: string
  head_sha: string
  merge_sha: string | null
  /** The verdict of the evaluation of `head_sha`. */
  review: PullRequestReview
  files_changed: number
  additions: number
  deletions: number
  created_at: Date
  updated_at: Date
  merged_at: Date | null
}
export type WholePullRequestRow = PullRequestRow & {
  body: string
  /** Commits that were, or may have been, pushed to the base branch to merge it. */
  merge_attempts: string[]
}
// A pushed commit makes the verdict on the one before obsolete.
const current_review = `case when reviewed_sha = head_sha then review else 'none' end`
export const pull_request_columns = `id, organization_id, repository_id, run_id, coalesce(remote_number, number) as number, remote_number, remote_draft, state, title, coalesce(remote_url, url) as url, head_branch, base_branch, base_sha, head_sha,
  merge_sha, ${current_review} as review, files_changed, additions, deletions, created_at, updated_at, merged_at`
const whole = `${pull_request_columns}, body, merge_attempts`

/** Returns the pull requests of several runs, oldest first. */
export function listPullRequests(
  db: Db,
  organization_id: number,
  run_ids: number[],
): Promise<PullRequestRow[]> {
  return allRows<PullRequestRow>(db, {
    name: 'list_pull_requests',
    text: `select ${pull_request_columns}
      from pull_requests
      where organization_id = $1 and run_id = any($2)
      order by id`,
    values: [organization_id, run_ids],
  })
}

/** Returns open pull requests from or into branches of a repository, oldest first, 100 at most. */
export function pullRequestsOfBranches(
  db: Db,
  organization_id: number,
  repository_id: number,
  branches: string[],
): Promise<WholePullRequestRow[]> {
  return allRows<WholePullRequestRow>(db, {
    name: 'pull_requests_of_branches',
    text: `select ${whole}
      from pull_requests
      where organization_id = $1
        and repository_id = $2
        and (head_branch = any($3) or base_branch = any($3))
        and state in ('open', 'draft')
      order by id
      limit 100`,
    values: [organization_id, repository_id, branches],
  })
}

/** Detaches runs from their pull requests, which stay. Returns the branches of these. */
export function detachPullRequests(
  db: Db,
  organization_id: number,
  run_ids: number[],
): Promise<{ repository_id: number; head_branch: string }[]> {
  return allRows<{ repository_id: number; head_branch: string }>(db, {
    name: 'detach_pull_requests',
    text: `update pull_requests
      set run_id = null, updated_at = now()
      where organization_id = $1 and run_id = any($2)
      returning repository_id, head_branch`,
    values: [organization_id, run_ids],
  })
}

type PullRequestFilter = {
  repo_id?: number[] | undefined
  state?: PullRequestState[] | undefined
  agent_run_id?: number[] | undefined
  review?: PullRequestReview[] | undefined
  /** Only these repositories; null: all. */
  repository_ids: readonly number[] | null
}

/** Returns one page, newest first. Absent filters do not narrow. */
export async function findPullRequests(
  db: Db,
  organization_id: number,
  filter: PullRequestFilter,
  window: Window,
): Promise<{ rows: WholePullRequestRow[]; total: number }> {
  const { oneOf, where, values } = conditionsOf('organization_id = $1', organization_id)
  oneOf('repository_id', 'bigint', filter.repo_id)
  oneOf('state', 'text', filter.state)
  oneOf('run_id', 'bigint', filter.agent_run_id)
  oneOf('repository_id', 'bigint', filter.repository_ids)
  oneOf(current_review, 'text', filter.review)
  return listPage(
    db,
    { columns: whole, from: 'pull_requests', where: where(), key: 'id', order: 'desc' },
    values,
    window,
  )
}

/**
 * Returns a pull request with its description.
 * @param repository_ids only these repositories; null: all
 */
export function getPullRequest(
  db: Db,
  organization_id: number,
  id: number,
  repository_ids: readonly number[] | null = null,
): Promise<WholePullRequestRow | undefined> {
  return firstRow<WholePullRequestRow>(db, {
    name: 'get_pull_request',
    text: `select ${whole}
      from pull_requests
      where organization_id = $1 and id = $2 and ($3::bigint[] is null or repository_id = any($3))`,
    values: [organization_id, id, repository_ids],
  })
}

/** Returns the pull request of a branch of the repository, in any state. */
export function findByBranch(
  db: Db,
  organization_id: number,
  repository_id: number,
  head_branch: string,
): Promise<WholePullRequestRow | undefined> {
  return firstRow<WholePullRequestRow>(db, {
    name: 'find_pull_request_by_branch',
    text: `select ${whole}
      from pull_requests
      where organization_id = $1 and repository_id = $2 and head_branch = $3`,
    values: [organization_id, repository_id, head_branch],
  })
}

type NewPullRequest = Pick<
  WholePullRequestRow,
  | 'organization_id'
  | 'repository_id'
  | 'title'
  | 'body'
  | 'url'
  | 'head_branch'
  | 'base_branch'
  | 'base_sha'
  | 'head_sha'
  | 'files_changed'
  | 'additions'
  | 'deletions'
> & { run_id: number }

/** A draft that is held back. `number` and its repository's count `r` are one. */
const newRow = (pr: NewPullRequest) => ({
  organization_id: pr.organization_id,
  repository_id: pr.repository_id,
  run_id: pr.run_id,
  number: () => 'r.pull_request_count',
  state: 'draft',
  held_back: true,
  title: pr.title,
  body: pr.body,
  url: pr.url,
  head_branch: pr.head_branch,
  base_branch: pr.base_branch,
  base_sha: pr.base_sha,
  head_sha: pr.head_sha,
  files_changed: pr.files_changed,
  additions: pr.additions,
  deletions: pr.deletions,
})

/**
 * Saves the pull request of a branch: creates it as a draft that is held back, or updates its head. `created`
 * reports which. There is one row per branch even after retries; numbers count up per repository. Returns
 * undefined when the branch's pull request was closed or merged.
 */
export async function savePullRequest(
  db: Db,
  pr: NewPullRequest,
): Promise<(PullRequestRow & { created: boolean }) | undefined> {
  const updated = await db.query<PullRequestRow>(
    updateRow('pull_requests', {
      where: {
        organization_id: pr.organization_id,
        repository_id: pr.repository_id,
        head_branch: pr.head_branch,
      },
      and: `state in ('open', 'draft')`,
      set: {
        head_sha: pr.head_sha,
        files_changed: pr.files_changed,
        additions: pr.additions,
        deletions: pr.deletions,
        updated_at: now,
      },
      returning: pull_request_columns,
    }),
  )
  const existing = updated.rows[0]
  if (existing) return { ...existing, created: false }
  const { rows } = await db.query<PullRequestRow>(
    statement('insert_pull_request', bind => {
      const branch = [pr.organization_id, pr.repository_id, pr.head_branch].map(bind)
      const [organization_id, repository_id, head_branch] = branch
      return `with r as (
          update repositories
          set pull_request_count = pull_request_count + 1
          where organization_id = ${organization_id}
            and id = ${repository_id}
            and not exists (
              select
              from pull_requests p
              where p.organization_id = ${organization_id}
                and p.repository_id = ${repository_id}
                and p.head_branch = ${head_branch}
            )
          returning pull_request_count
        )
        ${insertSql(bind, 'pull_requests', newRow(pr), { select: () => 'from r', end: `returning ${pull_request_columns}` })}`
    }),
  )
  const created = rows[0]
  return created && { ...created, created: true }
}
