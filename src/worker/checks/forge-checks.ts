import { ForgeError } from '../../forge/port.ts'
import { saveRemoteChecks } from '../../forge/sync.ts'
import { getRepository, type RepositoryRow } from '../../store/access/repositories.ts'
import { listWaitingHeads } from '../../store/pull-requests/check-waits.ts'
import { tryAcquireTick } from '../../store/runs/ticks.ts'
import type { WorkerDeps } from '../settings.ts'

type Deps = Pick<WorkerDeps, 'db' | 'forges' | 'log'>

/** Whether it is on a forge that its organization is connected to, though that may not answer. */
export async function isOnForge({ forges }: Deps, repository: RepositoryRow): Promise<boolean> {
  try {
    return (await forges.of(repository)) !== null
  } catch (error) {
    if (error instanceof ForgeError) return true
    throw error
  }
}

/**
 * Takes over what the forge of a repository says of a commit. `excerptOf`: what is kept of what a check wrote. False: it is on no forge that is
 * connected. One that does not answer now has nothing new to say.
 */
export async function lookAtForge(
  { db, forges, log }: Deps,
  repository: RepositoryRow,
  head_sha: string,
  excerptOf: (text: string) => Promise<string>,
): Promise<boolean> {
  try {
    const on = await forges.of(repository)
    if (on === null) return false
    await saveRemoteChecks(db, on, repository, head_sha, excerptOf)
    return true
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    log('warn', 'a forge could not be asked for checks', { code: error.code, error: error.message })
    return true
  }
}

const MOST_HEADS = 100

/**
 * Looks at the checks that runs wait for, so that nothing is lost with a forge's own message; one process of all does it each time. What they
 * wrote is left to the worker that goes on with the run: it knows which values must not be kept.
 */
export async function pollChecks(deps: Deps, seconds: number): Promise<void> {
  // A little less, so that one process alone looks each time.
  if (!(await tryAcquireTick(deps.db, 'look at checks', seconds * 0.9))) return
  for (const { organization_id, repository_id, head_sha } of await listWaitingHeads(deps.db, MOST_HEADS)) {
    const repository = await getRepository(deps.db, organization_id, repository_id)
    if (repository) await lookAtForge(deps, repository, head_sha, async () => '')
  }
}
