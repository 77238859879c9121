import { ServiceError } from '../../core/service-error.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import { getPullRequest, pullRequestsOfBranches } from '../../store/pull-requests/pull-requests.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { requireValue } from '../pull-requests/git-port.ts'
import { refreshPullRequests } from '../pull-requests/refresh-pull-requests.ts'
import { requireRepository } from '../repositories/repositories.ts'
import type { GitProtocol, GitUpload, MovedRef } from './git-server-port.ts'

/**
 * Returns the first response to git. Throws 404, 403 for a push that is not accepted here, 503 while the
 * repository cannot be fetched for the first time.
 */
export async function offerGit(
  ctx: Context,
  repo_id: number,
  what: 'fetch' | 'push',
  protocol: GitProtocol,
): Promise<Buffer> {
  const repository = await requireRepository(ctx.db, ctx.organization_id, repo_id)
  if (what === 'fetch') return requireValue(await ctx.git_server.offerFetch(repository, protocol))
  requirePushable(repository)
  return requireValue(await ctx.git_server.offerPush(repository))
}

/** Receives the body of a request to its end. `max_bytes`: default, what a push may have. */
export async function receiveGit(
  ctx: Context,
  body: AsyncIterable<Buffer>,
  max_bytes?: number,
): Promise<GitUpload> {
  const sender = { organization_id: ctx.organization_id, user_id: ctx.actor.user_id }
  return requireValue(await ctx.git_server.receive(body, sender, max_bytes))
}

/** Refuses a request before its body is received: 404 for a repository that does not exist. */
export async function requireFetch(ctx: Context, repo_id: number): Promise<void> {
  await requireRepository(ctx.db, ctx.organization_id, repo_id)
}

/** Like `requireFetch`; 403 for a repository that accepts no push here. */
export async function requirePush(ctx: Context, repo_id: number): Promise<void> {
  requirePushable(await requireRepository(ctx.db, ctx.organization_id, repo_id))
}

export async function fetchGit(
  ctx: Context,
  repo_id: number,
  request: GitUpload,
  options: { protocol: GitProtocol; signal: AbortSignal },
) {
  return requireValue(
    await ctx.git_server.fetch(
      await requireRepository(ctx.db, ctx.organization_id, repo_id),
      request,
      options,
    ),
  )
}

/**
 * Passes a push on to the repository, and updates the pull requests of its branches. Returns the report for
 * git.
 */
export async function pushGit(
  ctx: Context,
  repo_id: number,
  upload: GitUpload,
  signal: AbortSignal,
): Promise<Buffer> {
  const repository = await requireRepository(ctx.db, ctx.organization_id, repo_id)
  requirePushable(repository)
  const { moved, report } = requireValue(await ctx.git_server.push(repository, upload, signal))
  if (moved.length === 0) return report([])
  const refs = moved.map(({ ref, from, to }) => ({ ref, from, to }))
  await audit(ctx.db, ctx, 'repository.pushed', { type: 'repository', id: repo_id }, { refs })
  return report(await movePullRequests(ctx, repository, moved))
}

/** Only local repositories accept a push here. A server has its own users and rules: push to it directly. */
function requirePushable({ kind, url, archived }: RepositoryRow): void {
  if (kind !== 'local')
    throw new ServiceError('forbidden', `This address is for fetching. Push to the repository itself: ${url}`)
  if (archived) throw new ServiceError('forbidden', 'This repository is archived: it takes no pushes.')
}

/**
 * Open ones from or into branches that have moved. What fails here is repeated when the pull request is read.
 */
async function movePullRequests(
  ctx: Context,
  repository: RepositoryRow,
  moved: MovedRef[],
): Promise<string[]> {
  const branches = moved.flatMap(({ ref }) => (ref.startsWith('refs/heads/') ? [ref.slice(11)] : []))
  const rows = await pullRequestsOfBranches(ctx.db, ctx.organization_id, repository.id, branches)
  const changed = await refreshPullRequests(ctx, rows, ctx.actor.user_id)
  const notes: string[] = []
  for (const { id } of rows.filter(pr => changed.has(pr.id))) {
    const pr = await getPullRequest(ctx.db, ctx.organization_id, id)
    const what = pr?.state === 'merged' || pr?.state === 'closed' ? pr.state : 'of this commit'
    if (pr) notes.push(`Pull request ${pr.number} is ${what} now: ${pr.url}`)
  }
  return notes
}
