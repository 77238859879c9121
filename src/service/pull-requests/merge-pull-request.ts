import type { MergePullRequestInput, PullRequest } from '../../contract/pull-requests/pull-requests.ts'
import { mergeMessage } from '../../core/pull-requests/merge-message.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import { ServiceError } from '../../core/service-error.ts'
import { getRepository, type RepositoryRow } from '../../store/access/repositories.ts'
import {
  addMergeAttempt,
  dropMergeAttempt,
  markMerged,
  recordHead,
} from '../../store/pull-requests/pull-request-moves.ts'
import type { PullRequestRow, WholePullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import type { Context } from '../context.ts'
import { changePullRequest } from './change-pull-request.ts'
import { requireExpectedHead } from './expected-head.ts'
import { requireValue } from './git-port.ts'
import { getPullRequest, requirePullRequest } from './pull-requests.ts'
import { headsOfMerge } from './refresh-pull-requests.ts'
import { mergeRemotely } from './remote-pull-request.ts'

/** How often the merge is attempted while the base moves. */
const MAX_ATTEMPTS = 4
const SHOWN_FILES = 20
const NAMED_FILES = 200

const conflict = (message: string, files: string[] = []) =>
  new ServiceError('conflict', message, {
    errors: files
      .slice(0, NAMED_FILES)
      .map(path => ({ loc: ['files', path], msg: 'both branches changed it', type: 'merge_conflict' })),
  })

/**
 * Merges a pull request into its base branch on the remote. One that is already merged, here or manually,
 * stays unchanged. Throws 404, 409 for what a person must fix, 503 while the remote is unavailable. The
 * attempt is recorded before the push, so a retry never merges twice.
 */
export async function mergePullRequest(
  ctx: Context,
  pr_id: number,
  input: MergePullRequestInput,
): Promise<PullRequest> {
  const pr = await requirePullRequest(ctx, pr_id)
  if (pr.state === 'merged') return getPullRequest(ctx, pr_id)
  if (pr.merge_attempts.length === 0) requireOpen(pr)
  const repository = await getRepository(ctx.db, ctx.organization_id, pr.repository_id)
  if (!repository) throw conflict('The repository of this pull request is no longer registered.')
  if (pr.remote_number !== null) {
    const merged = await mergeRemotely(ctx, pr, repository, input, messageOf(ctx, pr, input))
    if (merged !== null) await record(ctx, pr, merged.merge_sha, merged.head_sha, input.method)
    return getPullRequest(ctx, pr_id)
  }
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++)
    if (await mergeOnce(ctx, pr, repository, input)) return getPullRequest(ctx, pr_id)
  throw conflict(`${pr.base_branch} moved concurrently, ${MAX_ATTEMPTS} times; try again.`)
}

function messageOf(ctx: Context, pr: WholePullRequestRow, { method }: MergePullRequestInput): string {
  const run_url = pr.run_id === null ? null : traceUrl(ctx.base_url, pr.run_id)
  return mergeMessage({ ...pr, method, trailer: ctx.commit_trailer, run_url })
}

function requireOpen({ state }: WholePullRequestRow): void {
  if (state === 'draft') throw conflict('The pull request is a draft; mark it as ready for review first.')
  if (state !== 'open') throw conflict(`The pull request is ${state}; open it first.`)
}

/**
 * Returns true when it is merged, false when base or pull request changed meanwhile and the merge may be
 * retried.
 */
async function mergeOnce(
  ctx: Context,
  seen: WholePullRequestRow,
  repository: RepositoryRow,
  input: MergePullRequestInput,
): Promise<boolean> {
  const { base_branch, head_branch } = seen
  const { base_sha, head_sha } = requireValue(
    await ctx.git.fetch(repository, { base: base_branch, head: head_branch }),
  )
  // Read after the fetch: every merge of ours that the base has by now was recorded before.
  const pr = await requirePullRequest(ctx, seen.id)
  if (pr.state === 'merged') return true
  if (base_sha === null) throw conflict(`${repository.full_name} has no branch ${base_branch} to merge into.`)
  const arrived = await findArrived(ctx, repository, pr, base_sha, head_sha)
  if (arrived !== null) return record(ctx, pr, arrived, pr.head_sha, 'found')
  requireOpen(pr)
  if (head_sha === null) throw conflict(`${repository.full_name} no longer has the branch ${head_branch}.`)
  requireExpectedHead(seen, input, head_sha)
  await followHead(ctx, pr, repository, base_sha, head_sha)
  const message = messageOf(ctx, pr, input)
  const merge = requireValue(
    await ctx.git.merge(repository, { base_sha, head_sha, method: input.method, message }),
  )
  if (merge.kind === 'conflict') throw conflict(conflictMessage(base_branch, merge.files), merge.files)
  if (merge.kind === 'refused')
    throw conflict(`${head_branch} cannot be merged into ${base_branch}: ${merge.message}.`)
  if (merge.kind === 'nothing')
    throw conflict(`${base_branch} already contains all of ${head_branch}: there is nothing to merge.`)
  if (!(await addMergeAttempt(ctx.db, ctx.organization_id, pr.id, merge.sha))) return false
  const pushed = requireValue(
    await ctx.git.push(repository, { sha: merge.sha, branch: base_branch, base_sha }),
  )
  if (pushed.kind === 'pushed') return record(ctx, pr, merge.sha, head_sha, input.method)
  await dropMergeAttempt(ctx.db, ctx.organization_id, pr.id, merge.sha)
  if (pushed.kind === 'rejected') throw conflict(rejectionMessage(base_branch, pushed.message))
  return false
}

/**
 * Finds a merge that already arrived. A deleted head branch does not rule one out; a newer head does, unless
 * all of it is in the base.
 */
async function findArrived(
  ctx: Context,
  repository: RepositoryRow,
  pr: WholePullRequestRow,
  base_sha: string,
  head_sha: string | null,
): Promise<string | null> {
  const attempts = pr.merge_attempts
  return requireValue(
    await ctx.git.findMerge(repository, { base_sha, head_shas: headsOfMerge(pr, head_sha), attempts }),
  )
}

async function record(
  ctx: Context,
  pr: WholePullRequestRow,
  merge_sha: string,
  head_sha: string,
  how: 'merge' | 'squash' | 'found',
) {
  await changePullRequest(ctx, pr, { state: 'merged', detail: { merge_sha, head_sha, how } }, tx =>
    markMerged(tx, ctx.organization_id, pr.id, { merge_sha, head_sha }),
  )
  return true
}

/** File names are quoted and escaped: they may contain any character, newlines included. */
function conflictMessage(base_branch: string, files: string[]): string {
  const names = files.slice(0, SHOWN_FILES).map(path => JSON.stringify(path))
  const more = files.length > SHOWN_FILES ? ` and ${files.length - SHOWN_FILES} more` : ''
  return `It conflicts with ${base_branch} in ${names.join(', ')}${more}.`
}

function rejectionMessage(base_branch: string, message: string): string {
  if (!message.includes('branch is currently checked out'))
    return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}`
  return `${base_branch} is checked out in the repository's own work tree, which the service does not touch. Check out another branch there, or set receive.denyCurrentBranch to updateInstead in that repository, and merge again.`
}

/**
 * Records that the head branch was pushed to: the pull request is now at that commit. Throws 409 and 503 as
 * `requireValue`.
 */
async function followHead(
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
