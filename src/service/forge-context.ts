import { type ForgeRepository, forgePlace } from '../core/forge-address.ts'
import { roleScopes } from '../core/permissions.ts'
import { getMember } from '../store/accounts.ts'
import type { ForgeRow } from '../store/forges.ts'
import { listRepositories, type RepositoryRow } from '../store/repositories.ts'
import type { Context, Services } from './context.ts'

/** More than any organization has registered. */
const MOST_REPOSITORIES = 10_000

/** In whose name something is done that the forge told of: who connected it. Null: they are no member any more. */
export async function forgeContext(services: Services, forge: ForgeRow, request_id: string): Promise<Context | null> {
  const member = await getMember(services.db, forge.organization_id, forge.updated_by)
  if (!member?.role) return null
  return {
    ...services,
    actor: {
      ...{ user_id: forge.updated_by, token_id: 0, kind: 'service', wire_profile: 'standard', token_organization_id: null },
      ...{ granted: null, repository_ids: null, expires_at: null },
    },
    ...{ organization_id: forge.organization_id, role: member.role, scopes: roleScopes[member.role] },
    ...{ request_id, traceparent: null, windows: [], idempotency_key: null },
  }
}

/** What the repository is registered as; undefined: it is not. */
export async function registeredRepository(
  { db }: Pick<Services, 'db'>,
  forge: ForgeRow,
  wanted: ForgeRepository,
): Promise<RepositoryRow | undefined> {
  const { rows } = await listRepositories(db, forge.organization_id, 0, MOST_REPOSITORIES, { archived: false })
  const { host, hostname } = new URL(forge.url)
  const name = (place: ForgeRepository) => `${place.owner}/${place.name}`.toLowerCase()
  return rows.find(row => {
    const place = forgePlace(row)
    return place !== null && place.host === (place.origin === null ? hostname : host) && name(place) === name(wanted)
  })
}
