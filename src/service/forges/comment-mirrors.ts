import { mirrorBody, mirrorMark } from '../../core/forges/comment-mirror.ts'
import type { Log } from '../../core/log.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import type { OnForge } from '../../forge/forges.ts'
import type { Queue } from '../../queue/consumer.ts'
import { type ClaimedMirror, claimCommentMirrors } from '../../store/pull-requests/comment-mirrors.ts'
import { getComment } from '../../store/pull-requests/pull-request-comments.ts'
import { getPullRequest } from '../../store/pull-requests/pull-requests.ts'
import type { Services } from '../context.ts'
import { outboxQueue, type PostedItem } from './outbox-queue.ts'

/**
 * Posts comments on pull requests to the forges that have these, and what people change and delete of them.
 */
export const commentMirrorQueue = (services: Services, log: Log): Queue<ClaimedMirror> =>
  outboxQueue(services, { table: 'comment_mirrors', claim: claimCommentMirrors, post: postComment }, log)

/** An existing mirror is searched for first, so that a lost response leads to no second one. */
async function postComment(
  { db, base_url }: Services,
  mirror: ClaimedMirror,
  on: OnForge,
): Promise<PostedItem> {
  const { organization_id, comment_id, pull_request_id } = mirror
  const [pr, comment] = await Promise.all([
    getPullRequest(db, organization_id, pull_request_id),
    getComment(db, organization_id, pull_request_id, comment_id),
  ])
  if (!pr || pr.remote_number === null) return { posted: null, over: true }
  const author_name = comment?.full_name ?? ''
  const url = pr.run_id === null ? base_url : traceUrl(base_url, pr.run_id)
  const wanted = comment === undefined ? null : mirrorBody({ ...comment, author_name }, url)
  if (wanted !== null && wanted === mirror.posted) return { posted: wanted, over: false }
  const login = on.login ?? (await on.forge.identity()).login
  const all = await on.forge.listComments(on.repository, pr.remote_number)
  const existing = all.find(({ author, body }) => author === login && body.startsWith(mirrorMark(comment_id)))
  if (wanted === null && existing) await on.forge.deleteComment(on.repository, existing.id)
  if (wanted !== null && existing && existing.body !== wanted)
    await on.forge.updateComment(on.repository, existing.id, wanted)
  if (wanted !== null && !existing) await on.forge.createComment(on.repository, pr.remote_number, wanted)
  return { posted: wanted, over: comment === undefined }
}
