import type { ChecksSummary } from '../../contract/pull-requests/checks.ts'
import type { ListPullRequestsQuery, PullRequest } from '../../contract/pull-requests/pull-requests.ts'
import { pageNumbers, pageWindow } from '../../core/paging.ts'
import { checksVerdict } from '../../core/pull-requests/checks-verdict.ts'
import { ServiceError } from '../../core/service-error.ts'
import { listChecks } from '../../store/pull-requests/checks.ts'
import {
  findPullRequests,
  getPullRequest as getPullRequestRow,
  type PullRequestRow,
  type WholePullRequestRow,
} from '../../store/pull-requests/pull-requests.ts'
import type { Context } from '../context.ts'
import { refreshPullRequests } from './refresh-pull-requests.ts'
import { unreadableChecks } from './unreadable-checks.ts'

export const NOT_FOUND = 'Pull request not found.'

export async function requirePullRequest(ctx: Context, pr_id: number): Promise<WholePullRequestRow> {
  const row = await getPullRequestRow(ctx.db, ctx.organization_id, pr_id, ctx.actor.repository_ids)
  if (!row) throw new ServiceError('not_found', NOT_FOUND)
  return row
}

/**
 * Returns the row, refreshed from its repository if that is reachable. Throws 404 when it is not in this
 * organization.
 */
export async function currentPullRequest(ctx: Context, pr_id: number): Promise<WholePullRequestRow> {
  const row = await requirePullRequest(ctx, pr_id)
  return (await refreshPullRequests(ctx, [row])).size === 0 ? row : requirePullRequest(ctx, pr_id)
}

/** Returns the pull request. Throws 404 when it is not in this organization. */
export async function getPullRequest(ctx: Context, pr_id: number): Promise<PullRequest> {
  const row = await currentPullRequest(ctx, pr_id)
  const unreadable = (await unreadableChecks(ctx.db, ctx.organization_id, [row.repository_id]))(
    row.repository_id,
  )
  const checks = { ...checksVerdict(await listChecks(ctx.db, ctx.organization_id, [row])), unreadable }
  if (row.state === 'merged') return pullRequestObject(row, 'unknown', checks)
  return pullRequestObject(
    row,
    await ctx.git.mergeable(row.repository_id, row.base_branch, row.head_sha),
    checks,
  )
}

/** Returns one page, newest first. */
export async function listPullRequests(ctx: Context, query: ListPullRequestsQuery) {
  const window = pageWindow(query)
  const filter = { ...query, repository_ids: ctx.actor.repository_ids }
  const find = () => findPullRequests(ctx.db, ctx.organization_id, filter, window)
  const before = await find()
  const { rows, total } = (await refreshPullRequests(ctx, before.rows)).size === 0 ? before : await find()
  const checks = await listChecks(ctx.db, ctx.organization_id, rows)
  const repository_ids = rows.map(row => row.repository_id)
  const unreadableOf = await unreadableChecks(ctx.db, ctx.organization_id, repository_ids)
  const checksOf = ({ repository_id, head_sha }: PullRequestRow) => ({
    ...checksVerdict(
      checks.filter(check => check.repository_id === repository_id && check.head_sha === head_sha),
    ),
    unreadable: unreadableOf(repository_id),
  })
  return {
    items: rows.map(row => pullRequestObject(row, 'unknown', checksOf(row))),
    total,
    ...pageNumbers(total, window),
  }
}

function pullRequestObject(
  row: WholePullRequestRow,
  mergeable: PullRequest['mergeable'],
  checks: ChecksSummary,
): PullRequest {
  const { state, passed, failed, pending, unreadable } = checks
  return {
    id: row.id,
    number: row.number,
    organization_id: row.organization_id,
    repo_id: row.repository_id,
    agent_run_id: row.run_id,
    title: row.title,
    body: row.body,
    url: row.url,
    state: row.state,
    head_branch: row.head_branch,
    base_branch: row.base_branch,
    base_sha: row.base_sha,
    head_sha: row.head_sha,
    merge_sha: row.merge_sha,
    mergeable,
    review: row.review,
    checks: { state, passed, failed, pending, unreadable },
    files_changed: row.files_changed,
    additions: row.additions,
    deletions: row.deletions,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    merged_at: row.merged_at?.toISOString() ?? null,
  }
}
