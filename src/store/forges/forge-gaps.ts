import type { ForgeResource } from '../../contract/repositories/forge-resources.ts'
import { allRows, type Db } from '../database.ts'

/** What a connection may not read or do in a repository. `detail`: the forge's own message. */
type ForgeGap = { resource: ForgeResource; detail: string }
export type ForgeGapRow = ForgeGap & { forge_id: number; repository_id: number }
/** The repository, and the connection by which it is reached. */
type GapKey = { organization_id: number; forge_id: number; repository_id: number }

/**
 * Sets which of these resources are missing now; other resources keep their state. Writes nothing where
 * nothing changed.
 */
export async function recordGaps(
  db: Db,
  { organization_id, forge_id, repository_id }: GapKey,
  resources: readonly ForgeResource[],
  gaps: readonly ForgeGap[],
): Promise<void> {
  await db.query({
    name: 'record_forge_gaps',
    text: `with closed as (
        delete from forge_gaps
        where organization_id = $1
          and forge_id = $2
          and repository_id = $3
          and resource = any($4)
          and resource <> all($5::text[])
      )
      insert into forge_gaps as g (organization_id, forge_id, repository_id, resource, detail)
      select f.organization_id, f.id, r.id, u.resource, u.detail
      from forges f
      join repositories r on r.organization_id = f.organization_id,
        unnest($5::text[], $6::text[]) as u (resource, detail)
      where f.organization_id = $1 and f.id = $2 and r.id = $3
      on conflict (organization_id, repository_id, forge_id, resource)
        do update set detail = excluded.detail, noticed_at = now()
      where g.detail <> excluded.detail`,
    values: [
      organization_id,
      forge_id,
      repository_id,
      resources,
      gaps.map(gap => gap.resource),
      gaps.map(gap => gap.detail),
    ],
  })
}

/** Returns everything that the connections of an organization may not read or do, oldest repository first. */
export function listGaps(db: Db, organization_id: number): Promise<ForgeGapRow[]> {
  return allRows<ForgeGapRow>(db, {
    name: 'list_forge_gaps',
    text: `select g.forge_id, g.repository_id, g.resource, g.detail
      from forge_gaps g
      join repositories r on r.organization_id = g.organization_id and r.id = g.repository_id
      where g.organization_id = $1 and r.removed_at is null
      order by g.repository_id, g.resource`,
    values: [organization_id],
  })
}

/** Returns the same for some repositories, also removed ones. */
export function listRepositoryGaps(
  db: Db,
  organization_id: number,
  repository_ids: readonly number[],
): Promise<ForgeGapRow[]> {
  return allRows<ForgeGapRow>(db, {
    name: 'list_repository_gaps',
    text: `select forge_id, repository_id, resource, detail
      from forge_gaps
      where organization_id = $1 and repository_id = any($2::bigint[])
      order by repository_id, resource`,
    values: [organization_id, repository_ids],
  })
}

/** Forgets the gaps of a connection that has new credentials: the next requests show what those may do. */
export async function deleteGaps(db: Db, organization_id: number, forge_id: number): Promise<void> {
  await db.query({
    name: 'delete_forge_gaps',
    text: 'delete from forge_gaps where organization_id = $1 and forge_id = $2',
    values: [organization_id, forge_id],
  })
}
