import type { ForgeTask } from '../../core/forges/forge-event.ts'
import type { OnForge } from '../../forge/forges.ts'
import { saveRemoteChecks, syncPullRequest } from '../../forge/sync.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import { recordHead } from '../../store/pull-requests/pull-request-moves.ts'
import { findByBranch } from '../../store/pull-requests/pull-requests.ts'
import { findRemote, isHead } from '../../store/pull-requests/remote-pull-requests.ts'
import type { Context } from '../context.ts'
import { changePullRequest } from '../pull-requests/change-pull-request.ts'
import { requireValue } from '../pull-requests/forge.ts'
import { resumeForChecks } from '../pull-requests/late-checks.ts'

type Look = Exclude<ForgeTask, { kind: 'request' | 'asked' }>
type Place = { on: OnForge; repository: RepositoryRow }

/** Looks at what a forge says has happened, and takes over how it is now: so neither order nor doubles matter. Answers what it was. */
export async function syncFromForge(ctx: Context, task: Look, place: Place): Promise<string> {
  if (task.kind === 'checks') return takeChecks(ctx, place, task.sha)
  if (task.kind === 'branch') return followBranch(ctx, place.repository, task.branch)
  const pr = await findRemote(ctx.db, ctx.organization_id, place.repository.id, task.number)
  if (!pr) return 'no pull request of ours'
  await syncPullRequest(ctx.db, place.on, pr)
  return 'looked at'
}

/** What the forge's checks say of a commit that a pull request of ours is at. */
export async function takeChecks(
  ctx: Pick<Context, 'db' | 'organization_id' | 'queue_seconds'>,
  { on, repository }: Place,
  sha: string,
): Promise<string> {
  if (!(await isHead(ctx.db, ctx.organization_id, repository.id, sha))) return 'no pull request of ours is at that commit'
  // What they wrote is left to the worker that goes on with the run: it knows which values must not be kept.
  const count = await saveRemoteChecks(ctx.db, on, repository, sha, async () => '')
  await resumeForChecks(ctx, repository.id, sha)
  return `${count} checks`
}

/** Somebody pushed to a branch: its pull request is of that commit now. */
async function followBranch(ctx: Context, repository: RepositoryRow, branch: string): Promise<string> {
  const pr = await findByBranch(ctx.db, ctx.organization_id, repository.id, branch)
  if (!pr || pr.remote_number === null || (pr.state !== 'open' && pr.state !== 'draft')) return 'no open pull request of ours'
  const { base_sha, head_sha } = requireValue(await ctx.forge.fetch(repository, { base: pr.base_branch, head: branch }))
  if (base_sha === null || head_sha === null || head_sha === pr.head_sha) return 'nothing new'
  const counts = requireValue(await ctx.forge.count(repository, base_sha, head_sha))
  await changePullRequest(ctx, pr, { state: pr.state, detail: null }, tx =>
    recordHead(tx, ctx.organization_id, pr.id, { from_sha: pr.head_sha, head_sha, ...counts }),
  )
  return `at ${head_sha}`
}
