import type { OnForge } from '../../forge/forges.ts'
import { syncPullRequest } from '../../forge/sync.ts'
import { getRepository, type RepositoryRow } from '../../store/access/repositories.ts'
import type { PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import { takeDueRemotes } from '../../store/pull-requests/remote-pull-requests.ts'
import type { Services } from '../context.ts'
import { failureFields, noteFailure } from './forge-health.ts'
import { takeChecks } from './sync-from-forge.ts'

/** Pull requests whose run is at work are looked at so often, all others that are open more rarely: a forge counts what it is asked. */
const AT_WORK_SECONDS = 60
const OTHERS_SECONDS = 900
const AT_ONCE = 10

type Say = (message: string, fields: Record<string, unknown>) => void

/** Looks at open pull requests on forges, in case nobody told us what became of them. */
export async function pollForges(services: Services, log: Say): Promise<void> {
  for (const pr of await takeDueRemotes(services.db, { active: AT_WORK_SECONDS, others: OTHERS_SECONDS }, AT_ONCE)) {
    let on: OnForge | null = null
    // Whatever it is: those after it are taken already, and nobody else looks at them.
    try {
      const repository = await getRepository(services.db, pr.organization_id, pr.repository_id)
      on = repository ? await services.forges.of(repository) : null
      if (repository && on) await lookAt(services, pr, { on, repository })
    } catch (error) {
      if (on) await noteFailure(services, { organization_id: pr.organization_id, id: on.connection_id }, error)
      log('a pull request could not be looked at on its forge', failureFields(error))
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
