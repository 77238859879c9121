import type {
  CreateCommentInput,
  PullRequestComment,
  UpdateCommentInput,
} from '../../contract/pull-requests/pull-request-contents.ts'
import { type PageRequest, pageNumbers, pageWindow } from '../../core/paging.ts'
import { ServiceError } from '../../core/service-error.ts'
import type { Db } from '../../store/database.ts'
import {
  type CommentRow,
  deleteComment,
  insertComment,
  listComments,
  lockComment,
  updateComment,
} from '../../store/pull-requests/pull-request-comments.ts'
import { touchPullRequest } from '../../store/pull-requests/pull-request-moves.ts'
import type { PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import { reportRun } from '../../store/runs/change-run.ts'
import { lockRun } from '../../store/runs/runs.ts'
import { audit } from '../access/audit.ts'
import { once, type Replay } from '../access/idempotency.ts'
import type { Context } from '../context.ts'
import { withoutSecrets } from '../secrets/known-secrets.ts'
import { requirePullRequest } from './pull-requests.ts'

const notFound = () => new ServiceError('not_found', 'Comment not found.')

/** Returns one page, oldest first. */
export async function listPullRequestComments(ctx: Context, pr_id: number, query: PageRequest) {
  const pr = await requirePullRequest(ctx, pr_id)
  const window = pageWindow(query)
  const { rows, total } = await listComments(ctx.db, ctx.organization_id, pr.id, window)
  return { items: rows.map(commentObject), total, ...pageNumbers(total, window) }
}

/** Creates a comment of the caller; readers of the run's events are notified. */
export async function createPullRequestComment(
  ctx: Context,
  pr_id: number,
  input: CreateCommentInput,
): Promise<PullRequestComment | Replay> {
  return once(ctx, 'createPullRequestComment', [pr_id, input], async inner => {
    const pr = await requirePullRequest(inner, pr_id)
    return inner.db.transaction(async tx => {
      const body = await withoutSecrets(tx, ctx, pr.repository_id, input.body)
      const position = {
        path: input.path ?? null,
        line: input.line ?? null,
        side: input.line == null ? null : (input.side ?? 'RIGHT'),
      }
      const author = { user_id: ctx.actor.user_id, run_id: null }
      const comment = { pull_request_id: pr.id, ...author, body, ...position, head_sha: pr.head_sha }
      const row = await insertComment(tx, ctx.organization_id, comment)
      if (!row) throw notFound()
      await recordCommentChange(tx, ctx, pr, 'commented', row.id)
      return commentObject(row)
    })
  })
}

/** Throws 404, or 403 when another user wrote the comment. */
export async function updatePullRequestComment(
  ctx: Context,
  path: { pr_id: number; comment_id: number },
  input: UpdateCommentInput,
): Promise<PullRequestComment> {
  return ctx.db.transaction(async tx => {
    const { pr, row } = await requireOwn(tx, ctx, path)
    const body = await withoutSecrets(tx, ctx, pr.repository_id, input.body)
    if (body === row.body) return commentObject(row)
    const updated_at = await updateComment(tx, ctx.organization_id, row.id, body)
    await recordCommentChange(tx, ctx, pr, 'comment_edited', row.id)
    return commentObject({
      ...row,
      body,
      updated_at: updated_at ?? row.updated_at,
      on_forge: row.on_forge && 'pending',
    })
  })
}

/** Deletes a comment and returns it. Throws as `updatePullRequestComment`. */
export async function deletePullRequestComment(
  ctx: Context,
  path: { pr_id: number; comment_id: number },
): Promise<PullRequestComment> {
  return ctx.db.transaction(async tx => {
    const { pr, row } = await requireOwn(tx, ctx, path)
    await deleteComment(tx, ctx.organization_id, row.id)
    await recordCommentChange(tx, ctx, pr, 'comment_deleted', row.id)
    return commentObject(row)
  })
}

async function requireOwn(
  tx: Db,
  ctx: Context,
  { pr_id, comment_id }: { pr_id: number; comment_id: number },
) {
  const pr = await requirePullRequest(ctx, pr_id)
  const row = await lockComment(tx, ctx.organization_id, pr.id, comment_id)
  if (!row) throw notFound()
  if (row.user_id !== ctx.actor.user_id)
    throw new ServiceError('forbidden', 'Another user wrote this comment.')
  return { pr, row }
}

type CommentChange = 'commented' | 'comment_edited' | 'comment_deleted'

/** Records the change in the audit log, and as an event so that the page loads the comments again. */
async function recordCommentChange(
  tx: Db,
  ctx: Context,
  pr: PullRequestRow,
  what: CommentChange,
  comment_id: number,
): Promise<void> {
  await audit(tx, ctx, `pull_request.${what}`, { type: 'pull_request', id: pr.id }, { comment_id })
  const run = pr.run_id === null ? undefined : await lockRun(tx, ctx.organization_id, pr.run_id)
  await touchPullRequest(tx, ctx.organization_id, pr.id)
  if (!run) return
  const body = { changed: ['pull_request_comments'], pr_id: pr.id, comment_id, user_id: ctx.actor.user_id }
  await reportRun(tx, run, { event: { type: 'agent_run.updated', body } })
}

function commentObject(row: CommentRow): PullRequestComment {
  const { id, pull_request_id, user_id, run_id, full_name, body, path, line, side, head_sha } = row
  return {
    id,
    pr_id: pull_request_id,
    user_id,
    agent_run_id: run_id,
    author_name: full_name ?? (run_id === null ? 'A run that is deleted' : `Run ${run_id}`),
    body,
    path,
    line,
    side,
    head_sha,
    forge_state: row.on_forge,
    forge_error: row.forge_problem,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
