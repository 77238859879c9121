import type { ForgeKind } from '../../contract/repositories/forges.ts'
import type { SealedValue } from '../../core/secrets/sealing.ts'
import { allRows, type Db, firstRow, only } from '../database.ts'
import { insertRow, replacing } from '../statement.ts'

export type ForgeRow = {
  id: number
  organization_id: number
  kind: ForgeKind
  url: string
  auth: 'token' | 'app'
  login: string | null
  app_slug: string | null
  app_id: number | null
  installation_id: number | null
  key_id: string
  sealed: Buffer
  problem: string | null
  /** To the minute; null: never. */
  used_at: Date | null
  /** When the address was connected first. */
  connected_at: Date
  updated_at: Date
  updated_by: number
}
const columns =
  'id, organization_id, kind, url, auth, login, app_slug, app_id, installation_id, key_id, sealed, problem, used_at, connected_at, updated_at, updated_by'

/** Returns the connections of an organization, oldest first. */
export function listForges(db: Db, organization_id: number): Promise<ForgeRow[]> {
  return allRows<ForgeRow>(db, {
    name: 'list_forges',
    text: `select ${columns} from forges where organization_id = $1 order by id`,
    values: [organization_id],
  })
}

/** Returns the connection that a signed delivery names, of any organization. */
export function findForge(db: Db, id: number): Promise<ForgeRow | undefined> {
  return firstRow<ForgeRow>(db, {
    name: 'find_forge',
    text: `select ${columns} from forges where id = $1`,
    values: [id],
  })
}

const next_id = `nextval(pg_get_serial_sequence('forges', 'id'))`

/** Reserves the id of a connection that is about to be created. */
export async function nextForgeId(db: Db): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: 'next_forge_id',
    text: `select ${next_id} as id`,
    values: [],
  })
  return only(rows).id
}

/** `id`: one that was reserved before; absent: the next one. */
type NewForge = Omit<
  ForgeRow,
  'id' | 'key_id' | 'sealed' | 'used_at' | 'connected_at' | 'updated_at' | 'updated_by'
> & {
  id?: number
  secrets: SealedValue
  user_id: number
}

const replaced = replacing(
  'kind',
  'auth',
  'login',
  'app_slug',
  'app_id',
  'installation_id',
  'problem',
  'key_id',
  'sealed',
  'updated_by',
)

/** Creates or replaces a connection. Undefined: it would be a new one, and there are `max` already. */
export function saveForge(db: Db, forge: NewForge, max: number): Promise<ForgeRow | undefined> {
  return firstRow<ForgeRow>(
    db,
    insertRow(
      'forges',
      {
        id: bind => `coalesce(${bind(forge.id ?? null)}::bigint, ${next_id})`,
        organization_id: forge.organization_id,
        kind: forge.kind,
        url: forge.url,
        auth: forge.auth,
        login: forge.login,
        app_slug: forge.app_slug,
        app_id: forge.app_id,
        installation_id: forge.installation_id,
        problem: forge.problem,
        key_id: forge.secrets.key_id,
        sealed: forge.secrets.sealed,
        updated_by: forge.user_id,
      },
      {
        overriding: true,
        select: bind => {
          const organization_id = bind(forge.organization_id)
          return `where exists (select 1 from forges where organization_id = ${organization_id} and url = ${bind(forge.url)})
            or (select count(*) from forges where organization_id = ${organization_id}) < ${bind(max)}`
        },
        end: `on conflict (organization_id, url)
          do update set ${replaced}, updated_at = now()
          returning ${columns}`,
      },
    ),
  )
}

/** Connections of all organizations whose last request failed. */
export function listFailingForges(db: Db, limit: number): Promise<ForgeRow[]> {
  return allRows<ForgeRow>(db, {
    name: 'list_failing_forges',
    text: `select ${columns}
      from forges
      where problem is not null or login is null
      order by id
      limit $1`,
    values: [limit],
  })
}

/** Records why it no longer works. */
export async function recordForgeProblem(
  db: Db,
  organization_id: number,
  id: number,
  problem: string,
): Promise<void> {
  await db.query({
    name: 'record_forge_problem',
    text: `update forges
      set problem = $3
      where organization_id = $1 and id = $2 and problem is distinct from $3`,
    values: [organization_id, id, problem],
  })
}

/** Records that this service sends a request to the forge. */
export async function recordForgeUse(db: Db, organization_id: number, id: number): Promise<void> {
  await db.query({
    name: 'record_forge_use',
    text: 'update forges set used_at = now() where organization_id = $1 and id = $2',
    values: [organization_id, id],
  })
}

/** Records that the connection works. `identity` is the service's account on the forge. */
export async function recordForgeIdentity(
  db: Db,
  organization_id: number,
  id: number,
  identity: { login: string; app: string | null },
): Promise<void> {
  await db.query({
    name: 'record_forge_identity',
    text: `update forges
      set problem = null, login = $3, app_slug = $4
      where organization_id = $1 and id = $2`,
    values: [organization_id, id, identity.login, identity.app],
  })
}

/** Returns the deleted row; undefined when there is none. */
export function deleteForge(
  db: Db,
  organization_id: number,
  kind: ForgeKind,
  url: string,
): Promise<ForgeRow | undefined> {
  return firstRow<ForgeRow>(db, {
    name: 'delete_forge',
    text: `delete from forges
      where organization_id = $1 and kind = $2 and url = $3
      returning ${columns}`,
    values: [organization_id, kind, url],
  })
}
