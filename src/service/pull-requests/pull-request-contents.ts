import type {
  PullRequestCommit,
  PullRequestDiff,
} from '../../contract/pull-requests/pull-request-contents.ts'
import { type PageRequest, pageNumbers, pageWindow, positionsOf } from '../../core/paging.ts'
import { ServiceError } from '../../core/service-error.ts'
import { getRepository, type RepositoryRow } from '../../store/access/repositories.ts'
import type { WholePullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import type { Context } from '../context.ts'
import { requireValue } from './git-port.ts'
import { currentPullRequest } from './pull-requests.ts'

/**
 * Returns one page, oldest first. Throws 404, 409 when the repository no longer has the commits, 503 while
 * they cannot be fetched.
 */
export async function listPullRequestCommits(ctx: Context, pr_id: number, query: PageRequest) {
  const { pr, repository } = await required(ctx, pr_id)
  const window = pageWindow(query)
  const { commits, total } = requireValue(await ctx.git.commits(repository, pr, positionsOf(window)))
  const items: PullRequestCommit[] = commits.map(commit => ({
    ...commit,
    authored_at: timeOf(commit.authored_at),
    committed_at: timeOf(commit.committed_at),
  }))
  return { items, total, ...pageNumbers(total, window) }
}

/** Throws as `listPullRequestCommits`. */
export async function getPullRequestDiff(ctx: Context, pr_id: number): Promise<PullRequestDiff> {
  const { pr, repository } = await required(ctx, pr_id)
  return { pr_id, ...requireValue(await ctx.git.changes(repository, pr)) }
}

async function required(
  ctx: Context,
  pr_id: number,
): Promise<{ pr: WholePullRequestRow; repository: RepositoryRow }> {
  const pr = await currentPullRequest(ctx, pr_id)
  const repository = await getRepository(ctx.db, ctx.organization_id, pr.repository_id)
  if (!repository)
    throw new ServiceError('conflict', 'The repository of this pull request is no longer registered.')
  return { pr, repository }
}

/** A commit may contain any number as its time: returns null for one that no date can represent. */
function timeOf(seconds: number): string | null {
  const time = new Date(seconds * 1000)
  return Math.abs(time.getTime()) < 253_402_300_800_000 ? time.toISOString() : null
}
