import type { ForgeTask } from '../../core/forges/forge-event.ts'
import type { OnForge } from '../../forge/forges.ts'
import { saveRemoteChecks, syncPullRequest } from '../../forge/sync.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import { recordHead } from '../../store/pull-requests/pull-request-moves.ts'
import { findByBranch } from '../../store/pull-requests/pull-requests.ts'
import { findRemote, isHead } from '../../store/pull-requests/remote-pull-requests.ts'
import type { Context } from '../context.ts'
import { changePullRequest } from '../pull-requests/change-pull-request.ts'
import { requireValue } from '../pull-requests/git-port.ts'
import { resumeForChecks } from '../pull-requests/late-checks.ts'

type SyncTask = Exclude<ForgeTask, { kind: 'request' | 'asked' }>
export type RepositoryOnForge = { on: OnForge; repository: RepositoryRow }

/**
 * Takes over the current state of what a delivery reports, so neither the order nor the number of deliveries
 * matters. Returns the outcome.
 */
export async function syncFromForge(
  ctx: Context,
  task: SyncTask,
  source: RepositoryOnForge,
): Promise<string> {
  if (task.kind === 'checks') return saveChecks(ctx, source, task.sha)
  if (task.kind === 'branch') return followBranch(ctx, source.repository, task.branch)
  const pr = await findRemote(ctx.db, ctx.organization_id, source.repository.id, task.number)
  if (!pr) return 'no pull request of ours'
  await syncPullRequest(ctx.db, source.on, pr)
  return 'checked'
}

/** Saves the checks of a commit that is the head of a pull request of ours. */
export async function saveChecks(
  ctx: Pick<Context, 'db' | 'organization_id' | 'queue_seconds'>,
  { on, repository }: RepositoryOnForge,
  sha: string,
): Promise<string> {
  if (!(await isHead(ctx.db, ctx.organization_id, repository.id, sha)))
    return 'no pull request of ours is at that commit'
  // Their output is left to the worker that continues the run: it knows which values must be redacted.
  const count = await saveRemoteChecks(ctx.db, on, repository, sha, async () => '')
  await resumeForChecks(ctx, repository.id, sha)
  return `${count} checks`
}

/** A branch was pushed to: its pull request has a new head. */
async function followBranch(ctx: Context, repository: RepositoryRow, branch: string): Promise<string> {
  const pr = await findByBranch(ctx.db, ctx.organization_id, repository.id, branch)
  if (!pr || pr.remote_number === null || (pr.state !== 'open' && pr.state !== 'draft'))
    return 'no open pull request of ours'
  const { base_sha, head_sha } = requireValue(
    await ctx.git.fetch(repository, { base: pr.base_branch, head: branch }),
  )
  if (base_sha === null || head_sha === null || head_sha === pr.head_sha) return 'nothing new'
  const counts = requireValue(await ctx.git.count(repository, base_sha, head_sha))
  await changePullRequest(ctx, pr, { state: pr.state, detail: null }, tx =>
    recordHead(tx, ctx.organization_id, pr.id, { from_sha: pr.head_sha, head_sha, ...counts }),
  )
  return `at ${head_sha}`
}
