import { type ForgeRepository, repositoryOn } from '../../core/forges/forge-address.ts'
import { listRepositories, type RepositoryRow } from '../../store/access/repositories.ts'
import type { ForgeRow } from '../../store/forges/forges.ts'
import { memberContext } from '../access/member-context.ts'
import type { Context, Services } from '../context.ts'

/** More than any organization has registered. */
const MOST_REPOSITORIES = 10_000

/** In whose name something is done that the forge told of: who connected it. Null: they are no member any more. */
export const forgeContext = (services: Services, forge: ForgeRow, request_id: string): Promise<Context | null> =>
  memberContext(services, { organization_id: forge.organization_id, user_id: forge.updated_by }, request_id)

/** What the repository is registered as; undefined: it is not. */
export async function registeredRepository(
  { db }: Pick<Services, 'db'>,
  forge: ForgeRow,
  wanted: ForgeRepository,
): Promise<RepositoryRow | undefined> {
  const { rows } = await listRepositories(db, forge.organization_id, 0, MOST_REPOSITORIES, { archived: false })
  const name = (place: ForgeRepository) => `${place.owner}/${place.name}`.toLowerCase()
  return rows.find(row => {
    const place = repositoryOn(forge.url, row)
    return place !== null && name(place) === name(wanted)
  })
}
