import type { RepositoryRow } from '../../store/access/repositories.ts'
import { recordHead } from '../../store/pull-requests/pull-request-moves.ts'
import type { PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import type { Context } from '../context.ts'
import { changePullRequest } from './change-pull-request.ts'
import { requireValue } from './git-port.ts'

/**
 * Records that the head branch was pushed to: the pull request is now at that commit. Throws 409 and 503 as
 * `requireValue`.
 */
export async function followHead(
  ctx: Context,
  pr: PullRequestRow,
  repository: RepositoryRow,
  base_sha: string,
  head_sha: string,
): Promise<void> {
  if (pr.head_sha === head_sha) return
  const counts = requireValue(await ctx.git.count(repository, base_sha, head_sha))
  await changePullRequest(ctx, pr, { state: pr.state, detail: null }, tx =>
    recordHead(tx, ctx.organization_id, pr.id, { from_sha: pr.head_sha, head_sha, ...counts }),
  )
}
