import { ForgeError } from '../../forge/port.ts'
import { saveRemoteChecks } from '../../forge/sync.ts'
import { getRepository, type RepositoryRow } from '../../store/access/repositories.ts'
import { listWaitingHeads } from '../../store/pull-requests/check-waits.ts'
import { tryAcquireTick } from '../../store/runs/ticks.ts'
import type { WorkerServices } from '../services.ts'

type Deps = Pick<WorkerServices, 'db' | 'log' | 'forges'>

/** Returns whether the repository is on a connected forge, even if that is unavailable. */
export async function isOnForge({ forges }: Deps, repository: RepositoryRow): Promise<boolean> {
  try {
    return (await forges.of(repository)) !== null
  } catch (error) {
    if (error instanceof ForgeError) return true
    throw error
  }
}

/**
 * Reads the checks of a commit from the forge. `excerptOf`: returns what is kept of a check's output. False:
 * the repository is not on a connected forge. A forge that is unavailable changes nothing.
 */
export async function syncChecks(
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
    log('warn', 'checks could not be read from a forge', { code: error.code, error: error.message })
    return true
  }
}

const MAX_HEADS = 100

/**
 * Polls the checks that runs wait for, in case a webhook of the forge was lost; one process at a time. Their
 * output is left to the worker that continues the run: it knows which values to redact.
 */
export async function pollChecks(deps: Deps, seconds: number): Promise<void> {
  // A little less than the interval, so that one process polls each time.
  if (!(await tryAcquireTick(deps.db, 'poll checks', seconds * 0.9))) return
  for (const { organization_id, repository_id, head_sha } of await listWaitingHeads(deps.db, MAX_HEADS)) {
    const repository = await getRepository(deps.db, organization_id, repository_id)
    if (repository) await syncChecks(deps, repository, head_sha, async () => '')
  }
}
