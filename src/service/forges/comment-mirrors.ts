import { mirrorBody, mirrorMark } from '../../core/forges/comment-mirror.ts'
import type { Log } from '../../core/log.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import type { OnForge } from '../../forge/forges.ts'
import { type ClaimedMirror, claimCommentMirrors } from '../../store/pull-requests/comment-mirrors.ts'
import { getComment } from '../../store/pull-requests/pull-request-comments.ts'
import { getPullRequest } from '../../store/pull-requests/pull-requests.ts'
import type { Services } from '../context.ts'
import { drainOutbox, type Told } from './outbox-queue.ts'

/** Brings what people say here of pull requests to the forges that have them, and what they change and delete of it. Answers how much there was. */
export async function mirrorComments(services: Services, log: Log): Promise<number> {
  const { db } = services
  const claim = (limit: number, seconds: number) => claimCommentMirrors(db, limit, seconds)
  return drainOutbox(services, { name: 'comment_mirrors', claim, tell: (mirror, on) => tell(services, mirror, on) }, log)
}

/** The one that is there is looked for first, so that an answer that was lost makes no second one. */
async function tell({ db, base_url }: Services, mirror: ClaimedMirror, on: OnForge): Promise<Told> {
  const { organization_id, comment_id, pull_request_id } = mirror
  const [pr, comment] = await Promise.all([
    getPullRequest(db, organization_id, pull_request_id),
    getComment(db, organization_id, pull_request_id, comment_id),
  ])
  if (!pr || pr.remote_number === null) return { said_as: null, over: true }
  const author_name = comment?.full_name ?? ''
  const url = pr.run_id === null ? base_url : traceUrl(base_url, pr.run_id)
  const wanted = comment === undefined ? null : mirrorBody({ ...comment, author_name }, url)
  if (wanted !== null && wanted === mirror.said_as) return { said_as: wanted, over: false }
  const login = on.login ?? (await on.forge.identity()).login
  const all = await on.forge.listComments(on.repository, pr.remote_number)
  const there = all.find(({ author, body }) => author === login && body.startsWith(mirrorMark(comment_id)))
  if (wanted === null && there) await on.forge.deleteComment(on.repository, there.id)
  if (wanted !== null && there && there.body !== wanted) await on.forge.updateComment(on.repository, there.id, wanted)
  if (wanted !== null && !there) await on.forge.createComment(on.repository, pr.remote_number, wanted)
  return { said_as: wanted, over: comment === undefined }
}
