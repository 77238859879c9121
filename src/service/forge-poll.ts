import { type ForgeRequest, mentions, OUR_MARK } from '../core/forge-event.ts'
import type { OnForge } from '../forge/forges.ts'
import { ForgeError, type PlacedComment } from '../forge/port.ts'
import { syncPullRequest } from '../forge/sync.ts'
import { insertForgeDelivery } from '../store/forge-deliveries.ts'
import { findForge } from '../store/forges.ts'
import type { PullRequestRow } from '../store/pull-requests.ts'
import { takeDueRemotes, takeDueRepositories } from '../store/remote-pull-requests.ts'
import { getRepository, type RepositoryRow } from '../store/repositories.ts'
import type { Services } from './context.ts'
import { noteFailure } from './forge-health.ts'
import { takeChecks } from './forge-looks.ts'
import { mentionName, subjectOf } from './receive-delivery.ts'

/** Pull requests whose run is at work are looked at so often, all others that are open more rarely: a forge counts what it is asked. */
const AT_WORK_SECONDS = 60
const OTHERS_SECONDS = 900
const AT_ONCE = 10
/** What people write is asked for so often, of each repository, and what came late the time before with it. */
const COMMENTS_SECONDS = 300
const OVERLAP_MS = 600_000
/** What was said before that, somebody has told us of, or nobody waits for any more. */
const MISSED_MS = 24 * 3_600_000

type Say = (message: string, fields: Record<string, unknown>) => void

/** Looks at open pull requests on forges, and for what people wrote there, in case nobody told us. */
export async function pollForges(services: Services, log: Say): Promise<void> {
  for (const repository of await takeDueRepositories(services.db, COMMENTS_SECONDS, AT_ONCE))
    await lookForRequests(services, repository, log)
  for (const pr of await takeDueRemotes(services.db, { at_work: AT_WORK_SECONDS, others: OTHERS_SECONDS }, AT_ONCE)) {
    const repository = await getRepository(services.db, pr.organization_id, pr.repository_id)
    let on: OnForge | null = null
    try {
      on = repository ? await services.forges.of(repository) : null
      if (repository && on) await lookAt(services, pr, { on, repository })
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error
      if (on) await noteFailure(services, { organization_id: pr.organization_id, id: on.connection_id }, error)
      log('a pull request could not be looked at on its forge', { code: error.code, error: error.message })
    }
  }
}

async function lookAt(services: Services, pr: PullRequestRow, place: { on: OnForge; repository: RepositoryRow }): Promise<void> {
  const { db } = services
  const { on } = place
  if (pr.remote_number === null) return
  await syncPullRequest(db, on, pr)
  await takeChecks({ db, organization_id: pr.organization_id, queue_seconds: services.queue_seconds }, place, pr.head_sha)
}

/** Comments of people that mention the agent, wherever in the repository, and that nobody told us of. */
async function lookForRequests(services: Services, repository: RepositoryRow & { seen_before: Date | null }, log: Say): Promise<void> {
  const { db } = services
  let on: OnForge | null = null
  try {
    on = await services.forges.of(repository)
    const forge = on && (await findForge(db, on.connection_id))
    if (!on || !forge) return
    const oldest = Date.now() - MISSED_MS
    const since = new Date(Math.max(oldest, (repository.seen_before?.getTime() ?? oldest) - OVERLAP_MS))
    for (const comment of await on.forge.listNewComments(on.repository, since)) {
      if (comment.is_bot || comment.edited || comment.created_at < since) continue
      if (comment.body.includes(OUR_MARK) || !mentions(comment.body, mentionName(forge))) continue
      const task = requestOf(on.repository, comment)
      await insertForgeDelivery(db, {
        ...{ organization_id: forge.organization_id, forge_id: forge.id, delivery: `comment-${comment.id}`, event: 'issue_comment' },
        ...{ once: `issue_comment:${comment.id}`, subject: subjectOf(task), task: JSON.stringify(task), outcome: null },
      })
    }
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    if (on) await noteFailure(services, { organization_id: repository.organization_id, id: on.connection_id }, error)
    log('what people wrote on a forge could not be looked at', { code: error.code, error: error.message })
  }
}

const requestOf = (repository: ForgeRequest['repository'], comment: PlacedComment): ForgeRequest => {
  const { number, is_pull_request, body } = comment
  return {
    ...{ kind: 'request', by: 'comment', repository, number, is_pull_request, body },
    title: `${is_pull_request ? 'Pull request' : 'Issue'} #${number}`,
    ...{ author: comment.author, author_association: comment.author_association, comment_id: comment.id, url: comment.url },
  }
}
