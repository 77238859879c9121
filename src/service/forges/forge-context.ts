import { type ForgeRepository, repositoryOn } from '../../core/forges/forge-address.ts'
import { listRepositories, type RepositoryRow } from '../../store/access/repositories.ts'
import type { ForgeRow } from '../../store/forges/forges.ts'
import { memberContext } from '../access/member-context.ts'
import type { Context, Services } from '../context.ts'

/** More than any organization has registered. */
const MAX_REPOSITORIES = 10_000

/**
 * Returns the context of the member who connected the forge, in whose name its deliveries are handled. Null
 * if that is no longer a member.
 */
export const forgeContext = (
  services: Services,
  forge: ForgeRow,
  request_id: string,
): Promise<Context | null> =>
  memberContext(services, { organization_id: forge.organization_id, user_id: forge.updated_by }, request_id)

/** Returns the registered repository of one on a forge; undefined: it is not registered. */
export async function registeredRepository(
  { db }: Pick<Services, 'db'>,
  forge: ForgeRow,
  wanted: ForgeRepository,
): Promise<RepositoryRow | undefined> {
  const { rows } = await listRepositories(
    db,
    forge.organization_id,
    { skip: 0, limit: MAX_REPOSITORIES },
    { archived: false },
  )
  const nameOf = ({ owner, name }: ForgeRepository) => `${owner}/${name}`.toLowerCase()
  return rows.find(row => {
    const on_forge = repositoryOn(forge.url, row)
    return on_forge !== null && nameOf(on_forge) === nameOf(wanted)
  })
}
