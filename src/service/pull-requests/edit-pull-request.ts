import type {
  EditPullRequestInput,
  EditPullRequestResponse,
} from '../../contract/pull-requests/pull-requests.ts'
import { requestedState } from '../../core/pull-requests/pull-request-state.ts'
import { getRepository } from '../../store/access/repositories.ts'
import {
  editPullRequest as editRow,
  type PullRequestEdit,
} from '../../store/pull-requests/pull-request-moves.ts'
import { getPullRequest, type WholePullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import type { Context } from '../context.ts'
import { changePullRequest } from './change-pull-request.ts'
import { NOT_FOUND } from './pull-requests.ts'
import { refreshPullRequests } from './refresh-pull-requests.ts'
import { editRemotely, syncDraft } from './remote-pull-request.ts'

/**
 * Changes the given fields. A refused change is a response with `success: false`, as existing clients expect,
 * and changes nothing (specification.md#wire-profiles).
 */
export async function editPullRequest(
  ctx: Context,
  path: { pr_id: number; repo_id?: number },
  input: EditPullRequestInput,
): Promise<EditPullRequestResponse> {
  const row = await current(ctx, path.pr_id)
  if (!row || (path.repo_id !== undefined && row.repository_id !== path.repo_id))
    return { success: false, url: null, number: null, title: null, state: null, error: NOT_FOUND }
  const { url, number } = row
  const refusal = (error: string) => ({
    success: false,
    url,
    number,
    title: row.title,
    state: row.state,
    error,
  })
  const next = input.state === undefined ? { state: row.state } : requestedState(row.state, input.state)
  if ('refused' in next) return refusal(next.refused)
  const gone = row.state === 'closed' && next.state !== 'closed' ? await goneBranch(ctx, row) : null
  if (gone !== null) return refusal(gone)
  const base = await newBase(ctx, row, input.base_branch)
  if (typeof base === 'string') return refusal(base)
  const edit: PullRequestEdit = {
    from: row.state,
    to: next.state,
    title: changed(row.title, input.title),
    body: changed(row.body, input.body),
    base,
  }
  const detail = detailOf(row, edit)
  const repository = await remoteRepository(ctx, row)
  if (typeof repository === 'string') return refusal(repository)
  const refused = repository && detail !== null ? await editRemotely(ctx, row, repository, edit) : null
  if (refused !== null) return refusal(refused)
  const done =
    detail === null ||
    (await changePullRequest(ctx, row, { state: edit.to, detail }, tx =>
      editRow(tx, ctx.organization_id, row.id, edit),
    ))
  if (!done) return refusal('The pull request changed concurrently; try again.')
  if (repository && edit.from !== edit.to) await syncDraft(ctx, { ...row, state: edit.to }, repository)
  if (row.state === 'closed' && edit.to !== 'closed') await current(ctx, row.id)
  return { success: true, url, number, title: edit.title ?? row.title, state: edit.to, error: null }
}

/**
 * Returns the repository of a pull request on a forge; null when it is on none; a text explains why it cannot
 * be changed.
 */
async function remoteRepository(ctx: Context, row: WholePullRequestRow) {
  if (row.remote_number === null) return null
  return (
    (await getRepository(ctx.db, ctx.organization_id, row.repository_id)) ??
    'The repository of this pull request is no longer registered.'
  )
}

const changed = (now: string, requested: string | undefined) => (requested === now ? undefined : requested)

/** Returns the detail for the audit log; null when nothing changes. */
function detailOf(
  row: WholePullRequestRow,
  { from, to, title, body, base }: PullRequestEdit,
): Record<string, unknown> | null {
  const detail = {
    ...(from !== to && { from, to }),
    ...(title !== undefined && { title: { from: row.title, to: title } }),
    // The body is too long for the audit log.
    ...(body !== undefined && { body: 'changed' }),
    ...(base && { base_branch: { from: row.base_branch, to: base.base_branch } }),
  }
  return Object.keys(detail).length === 0 ? null : detail
}

/**
 * Returns the new base branch with the size of the change against it; a text explains why it cannot be the
 * base; undefined: the base stays.
 */
async function newBase(
  ctx: Context,
  row: WholePullRequestRow,
  base_branch: string | undefined,
): Promise<PullRequestEdit['base'] | string> {
  if (base_branch === undefined || base_branch === row.base_branch) return undefined
  if (row.state === 'merged') return 'The pull request is merged; its base can no longer change.'
  if (base_branch === row.head_branch) return 'A branch cannot be merged into itself.'
  const repository = await getRepository(ctx.db, ctx.organization_id, row.repository_id)
  if (!repository) return 'The repository of this pull request is no longer registered.'
  const found = await ctx.git.fetch(repository, { base: base_branch, head: row.head_branch })
  if (!found.ok) return `${found.message.slice(0, 1).toUpperCase()}${found.message.slice(1)}`
  const { base_sha } = found.value
  if (base_sha === null) return `${repository.full_name} has no branch ${base_branch}.`
  const counts = await ctx.git.count(repository, base_sha, row.head_sha)
  return counts.ok ? { base_branch, ...counts.value } : counts.message
}

async function current(ctx: Context, pr_id: number): Promise<WholePullRequestRow | undefined> {
  const find = () => getPullRequest(ctx.db, ctx.organization_id, pr_id, ctx.actor.repository_ids)
  const row = await find()
  return row && (await refreshPullRequests(ctx, [row])).size > 0 ? find() : row
}

/** Returns why a pull request cannot be reopened; null when no reason is known. */
async function goneBranch(ctx: Context, row: WholePullRequestRow): Promise<string | null> {
  const repository = await getRepository(ctx.db, ctx.organization_id, row.repository_id)
  const found =
    repository && (await ctx.git.fetch(repository, { base: row.base_branch, head: row.head_branch }))
  if (!found?.ok || found.value.head_sha !== null) return null
  return `The repository no longer has the branch ${row.head_branch}: push it again, then open the pull request.`
}
