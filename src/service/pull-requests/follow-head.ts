import type { RepositoryRow } from '../../store/access/repositories.ts'
import { recordHead } from '../../store/pull-requests/pull-request-moves.ts'
import type { PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import type { Context } from '../context.ts'
import { changePullRequest } from './change-pull-request.ts'
import { given } from './forge.ts'

/** Somebody pushed to the head branch: the pull request is of that commit now. 409 and 503 as `given`. */
export async function followHead(
  ctx: Context,
  pr: PullRequestRow,
  repository: RepositoryRow,
  base_sha: string,
  head_sha: string,
): Promise<void> {
  if (pr.head_sha === head_sha) return
  const counts = given(await ctx.forge.count(repository, base_sha, head_sha))
  await changePullRequest(ctx, pr, { state: pr.state, detail: null }, tx =>
    recordHead(tx, ctx.organization_id, pr.id, { from_sha: pr.head_sha, head_sha, ...counts }),
  )
}
