import { isCheckResource, type UnreadableChecks } from '../../core/forges/forge-permissions.ts'
import type { Db } from '../../store/database.ts'
import { listRepositoryGaps } from '../../store/forges/forge-gaps.ts'

/**
 * Returns a function from a repository's id to the check resources that its forge does not permit the service
 * to read.
 */
export async function unreadableChecks(
  db: Db,
  organization_id: number,
  repository_ids: readonly number[],
): Promise<(repository_id: number) => UnreadableChecks> {
  const gaps = await listRepositoryGaps(db, organization_id, [...new Set(repository_ids)])
  return id =>
    [...new Set(gaps.filter(gap => gap.repository_id === id).map(gap => gap.resource))].filter(
      isCheckResource,
    )
}
