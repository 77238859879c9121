import { isCheckResource, type UnreadableChecks } from '../../core/forges/forge-permissions.ts'
import type { Db } from '../../store/database.ts'
import { listRepositoryGaps } from '../../store/forges/forge-gaps.ts'

/** What of the checks of these repositories their forges do not let us read; a function of the repository's id. */
export async function unreadableChecks(
  db: Db,
  organization_id: number,
  repository_ids: readonly number[],
): Promise<(repository_id: number) => UnreadableChecks> {
  const gaps = await listRepositoryGaps(db, organization_id, [...new Set(repository_ids)])
  return id => [...new Set(gaps.filter(gap => gap.repository_id === id).map(gap => gap.resource))].filter(isCheckResource)
}
