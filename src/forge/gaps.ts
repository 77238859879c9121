import type { ForgeResource } from '../contract/forges.ts'
import { checkResources } from '../core/forge-permissions.ts'
import { reportsOf } from '../core/remote-check.ts'
import { listChecks, saveCheck } from '../store/checks.ts'
import type { Db } from '../store/database.ts'
import { recordGaps } from '../store/forge-gaps.ts'
import type { OnForge } from './forges.ts'
import { ForgeError } from './port.ts'

type Repository = { organization_id: number; id: number }

const keyOf = ({ connection_id: forge_id }: OnForge, { organization_id, id: repository_id }: Repository) => ({
  ...{ organization_id, forge_id, repository_id },
})

/**
 * Reads the checks of a commit from its forge, saves them, and records what the credentials may not read. `excerptOf`: what is kept of the output of
 * a check. Returns how many there are. Rejects with ForgeError while the forge is unavailable.
 */
export async function saveRemoteChecks(
  db: Db,
  on: OnForge,
  repository: Repository,
  head_sha: string,
  excerptOf: (text: string) => Promise<string>,
): Promise<number> {
  const { organization_id, id } = repository
  const source = on.forge.kind
  // Read before the request: a late response is then of an earlier attempt than what others have recorded meanwhile.
  const known = (await listChecks(db, organization_id, [{ repository_id: id, head_sha }])).filter(check => check.source === source)
  const { checks, gaps } = await on.forge.listChecks(on.repository, head_sha)
  await recordGaps(db, keyOf(on, repository), checkResources, gaps)
  for (const report of reportsOf(checks, known, { head_sha, source, excerptOf: text => text })) {
    const log_excerpt = report.log_excerpt && ((await excerptOf(report.log_excerpt)) || null)
    await saveCheck(db, organization_id, id, { ...report, log_excerpt })
  }
  return checks.length
}

/** Does `work`, and records whether the credentials lack the permission for it. Rejects as `work` does. */
export async function noticingGap<T>(
  db: Db,
  on: OnForge,
  repository: Repository,
  resource: ForgeResource,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work()
    await recordGaps(db, keyOf(on, repository), [resource], [])
    return result
  } catch (error) {
    if (error instanceof ForgeError && error.code === 'forbidden')
      await recordGaps(db, keyOf(on, repository), [resource], [{ resource, detail: error.message }])
    throw error
  }
}
