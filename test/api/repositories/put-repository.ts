import type { RepositoryKind } from '../../../src/core/repositories/repository-kind.ts'
import { insertRepository } from '../../../src/store/access/repositories.ts'
import type { Database } from '../../../src/store/database.ts'

/**
 * Registers another repository of the organization, whether or not it exists at the address. Returns its id.
 */
export async function putRepository(
  { db, org_id }: { db: Database; org_id: number },
  name: string,
  kind: RepositoryKind = 'local',
  url = `/nowhere/${name}.git`,
): Promise<number> {
  const names = { organization_id: org_id, name, full_name: `${name}/${name}`, url, kind }
  return (await insertRepository(db, { ...names, description: null, sample: false })).id
}
