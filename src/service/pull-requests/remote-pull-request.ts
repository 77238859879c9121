import type { MergePullRequestInput } from '../../contract/pull-requests/pull-requests.ts'
import { ServiceError } from '../../core/service-error.ts'
import { shortError } from '../../core/text/truncate.ts'
import type { OnForge } from '../../forge/forges.ts'
import { saveRemoteState, syncPullRequest } from '../../forge/sync.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import type { PullRequestEdit } from '../../store/pull-requests/pull-request-moves.ts'
import type { PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import type { Context } from '../context.ts'
import { requireExpectedHead } from './expected-head.ts'
import { requireResult, resultOf } from './forge-result.ts'

const NOT_CONNECTED = 'The forge of this pull request is no longer connected.'
const opened = async (ctx: Context, repository: RepositoryRow): Promise<OnForge | null> =>
  ctx.forges.of(repository)

/**
 * Merges a pull request on its forge, by the forge's own rules. Returns the commit on the base branch and the
 * merged head; null: it was already merged there, and that is recorded. Throws 409 for what a person must
 * fix, with the forge's message, 503 while the forge does not respond.
 */
export async function mergeRemotely(
  ctx: Context,
  pr: PullRequestRow,
  repository: RepositoryRow,
  input: MergePullRequestInput,
  message: string,
): Promise<{ merge_sha: string; head_sha: string } | null> {
  const on = await requireResult(opened(ctx, repository))
  if (on === null) throw new ServiceError('conflict', NOT_CONNECTED)
  const number = pr.remote_number ?? 0
  const synced = await requireResult(syncPullRequest(ctx.db, on, pr))
  const { state, head_sha } = synced ?? (await requireResult(on.forge.getPullRequest(on.repository, number)))
  if (state === 'merged') return null
  if (state !== 'open')
    throw new ServiceError('conflict', `The pull request is ${state} on its forge; open it first.`)
  requireExpectedHead(pr, input, head_sha)
  const merged = await resultOf(
    on.forge.mergePullRequest(on.repository, number, { method: input.method, head_sha, message }),
  )
  if (merged.ok) return { merge_sha: merged.value.merge_sha, head_sha }
  // The response may have been lost.
  const seen =
    merged.error.code === 'unreachable'
      ? await requireResult(on.forge.getPullRequest(on.repository, number))
      : null
  if (seen?.state !== 'merged') return requireResult(Promise.reject(merged.error))
  await saveRemoteState(ctx.db, pr, seen)
  return null
}

/**
 * Changes a pull request on its forge, before it is changed here. Returns a text when the forge refuses.
 * `syncDraft` applies the draft state.
 */
export async function editRemotely(
  ctx: Context,
  pr: PullRequestRow,
  repository: RepositoryRow,
  edit: PullRequestEdit,
): Promise<string | null> {
  const { title, body, base, from, to } = edit
  const state: 'open' | 'closed' | undefined =
    to === 'closed' && from !== 'closed'
      ? 'closed'
      : from === 'closed' && to !== 'closed'
        ? 'open'
        : undefined
  const change = {
    ...(title !== undefined && { title }),
    ...(body !== undefined && { body }),
    ...(base && { base_branch: base.base_branch }),
    ...(state && { state }),
  }
  if (Object.keys(change).length === 0) return null
  const on = await resultOf(opened(ctx, repository))
  if (!on.ok) return shortError(on.error.message)
  if (on.value === null) return NOT_CONNECTED
  const changed = await resultOf(
    on.value.forge.updatePullRequest(on.value.repository, pr.remote_number ?? 0, change),
  )
  return changed.ok ? null : shortError(changed.error.message)
}

/**
 * Makes it a draft on its forge, or ready, as it is here by now. An unavailable forge is updated by the next
 * sync.
 */
export async function syncDraft(ctx: Context, pr: PullRequestRow, repository: RepositoryRow): Promise<void> {
  const on = await resultOf(opened(ctx, repository))
  if (on.ok && on.value !== null) await resultOf(syncPullRequest(ctx.db, on.value, pr))
}
