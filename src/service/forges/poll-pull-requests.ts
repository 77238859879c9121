import type { OnForge } from '../../forge/forges.ts'
import { syncPullRequest } from '../../forge/sync.ts'
import { getRepository } from '../../store/access/repositories.ts'
import type { PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import { takeDueRemotes } from '../../store/pull-requests/remote-pull-requests.ts'
import type { Services } from '../context.ts'
import { failureFields, noteFailure } from './forge-health.ts'
import { type RepositoryOnForge, saveChecks } from './sync-from-forge.ts'

/** Pull requests of active runs are polled more often than other open ones, because forges limit requests. */
const ACTIVE_SECONDS = 60
const OTHER_SECONDS = 900
const BATCH = 10

type Warn = (message: string, fields: Record<string, unknown>) => void

/** Syncs open pull requests with their forges, for changes whose delivery was lost. */
export async function pollPullRequests(services: Services, warn: Warn): Promise<void> {
  for (const pr of await takeDueRemotes(
    services.db,
    { active: ACTIVE_SECONDS, others: OTHER_SECONDS },
    BATCH,
  )) {
    let on: OnForge | null = null
    // Any error: the pull requests after this one are taken already, so no other process syncs them.
    try {
      const repository = await getRepository(services.db, pr.organization_id, pr.repository_id)
      on = repository ? await services.forges.of(repository) : null
      if (repository && on) await pollPullRequest(services, pr, { on, repository })
    } catch (error) {
      if (on)
        await noteFailure(services, { organization_id: pr.organization_id, id: on.connection_id }, error)
      warn('a pull request could not be synced with its forge', failureFields(error))
    }
  }
}

async function pollPullRequest(
  { db, queue_seconds }: Services,
  pr: PullRequestRow,
  source: RepositoryOnForge,
): Promise<void> {
  if (pr.remote_number === null) return
  await syncPullRequest(db, source.on, pr)
  await saveChecks({ db, organization_id: pr.organization_id, queue_seconds }, source, pr.head_sha)
}
