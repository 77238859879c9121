import type { Window } from '../../core/paging.ts'
import type { SealedSecret } from '../../core/secrets/run-secrets.ts'
import { allRows, type Db, firstRow, only } from '../database.ts'
import { listPage } from '../list-page.ts'
import { insertRow, replacing } from '../statement.ts'

export type SecretRow = {
  name: string
  /** Null: of the whole organization. */
  repository_id: number | null
  for_agent: boolean
  created_at: Date
  updated_at: Date
  updated_by: number
}
const columns = 'name, repository_id, for_agent, created_at, updated_at, updated_by'

/** Returns one page by name. `repository_id` null: those of the whole organization. */
export async function listSecrets(
  db: Db,
  organization_id: number,
  repository_id: number | null,
  window: Window,
): Promise<{ rows: SecretRow[]; total: number }> {
  const where = 'organization_id = $1 and repository_id is not distinct from $2'
  const list = {
    columns,
    from: 'secrets',
    where,
    key: 'name collate "C"',
    type: 'text',
    order: 'asc',
  } as const
  return listPage(db, { name: 'list_secrets', ...list }, [organization_id, repository_id], window)
}

/**
 * Returns all sealed secrets that a run on that repository may use or print; null: a run without a
 * repository.
 */
export function listSealedSecrets(
  db: Db,
  organization_id: number,
  repository_id: number | null,
): Promise<SealedSecret[]> {
  return allRows<SealedSecret>(db, {
    name: 'list_sealed_secrets',
    text: `select name, repository_id, for_agent, key_id, sealed
      from secrets
      where organization_id = $1 and (repository_id is null or repository_id = $2)
      order by id`,
    values: [organization_id, repository_id],
  })
}

/**
 * Returns a sealed secret of the organization, or of the repository, itself; locked until the transaction
 * ends with `lock`.
 */
export function getSealedSecret(
  db: Db,
  organization_id: number,
  repository_id: number | null,
  name: string,
  lock = false,
): Promise<SealedSecret | undefined> {
  return firstRow<SealedSecret>(db, {
    name: lock ? 'lock_sealed_secret' : 'get_sealed_secret',
    text: `select name, repository_id, for_agent, key_id, sealed
      from secrets
      where organization_id = $1
        and repository_id is not distinct from $2
        and name = $3${lock ? ' for no key update' : ''}`,
    values: [organization_id, repository_id, name],
  })
}

/** Replaces the value of a secret, whose user stays. The row is locked. */
export async function replaceSealedSecret(
  db: Db,
  organization_id: number,
  repository_id: number | null,
  name: string,
  { key_id, sealed }: Pick<SealedSecret, 'key_id' | 'sealed'>,
): Promise<void> {
  await db.query({
    name: 'replace_sealed_secret',
    text: `update secrets
      set key_id = $4, sealed = $5, updated_at = now()
      where organization_id = $1 and repository_id is not distinct from $2 and name = $3`,
    values: [organization_id, repository_id, name, key_id, sealed],
  })
}

type NewSecret = {
  organization_id: number
  repository_id: number | null
  name: string
  /** Null: unchanged, or false for a new secret. */
  for_agent: boolean | null
  key_id: string
  sealed: Buffer
  user_id: number
}

/** Locks the secrets of the organization until the transaction ends, so that they can be counted. */
export async function lockSecrets(db: Db, organization_id: number): Promise<void> {
  await db.query({
    name: 'lock_secrets',
    text: 'select 1 from organizations where id = $1 for no key update',
    values: [organization_id],
  })
}

/**
 * Sets a secret; creates one only while there are fewer than `max`. Returns undefined when there are too
 * many.
 */
export function saveSecret(db: Db, secret: NewSecret, max: number): Promise<SecretRow | undefined> {
  return firstRow<SecretRow>(
    db,
    insertRow(
      'secrets',
      {
        organization_id: secret.organization_id,
        repository_id: secret.repository_id,
        name: secret.name,
        for_agent: secret.for_agent ?? false,
        key_id: secret.key_id,
        sealed: secret.sealed,
        updated_by: secret.user_id,
      },
      {
        as: 's',
        select: bind => {
          const of_owner = `organization_id = ${bind(secret.organization_id)}
            and repository_id is not distinct from ${bind(secret.repository_id)}`
          return `where exists (select 1 from secrets where ${of_owner} and name = ${bind(secret.name)})
            or (select count(*) from secrets where ${of_owner}) < ${bind(max)}`
        },
        end: bind => `on conflict (organization_id, repository_id, name)
          do update set ${replacing('key_id', 'sealed', 'updated_by')}, updated_at = now(),
            for_agent = coalesce(${bind(secret.for_agent)}, s.for_agent)
          returning ${columns}`,
      },
    ),
  )
}

/** Deletes a secret and returns it; undefined when it does not exist. */
export function deleteSecret(
  db: Db,
  organization_id: number,
  repository_id: number | null,
  name: string,
): Promise<SecretRow | undefined> {
  return firstRow<SecretRow>(db, {
    name: 'delete_secret',
    text: `delete from secrets
      where organization_id = $1 and repository_id is not distinct from $2 and name = $3
      returning ${columns}`,
    values: [organization_id, repository_id, name],
  })
}

/** Deletes all secrets of a removed repository. */
export async function deleteSecretsOf(db: Db, organization_id: number, repository_id: number): Promise<void> {
  await db.query({
    name: 'delete_secrets_of',
    text: 'delete from secrets where organization_id = $1 and repository_id = $2',
    values: [organization_id, repository_id],
  })
}

/**
 * Returns how many values, of secrets, webhooks and forges, are sealed with keys other than these and cannot
 * be opened.
 */
export async function countSealedOtherwise(db: Db, key_ids: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ sealed: number }>({
    name: 'count_sealed_otherwise',
    text: `select (select count(*) from secrets where key_id <> all ($1)) + (
        select count(*)
        from webhooks
        where key_id <> all ($1)
      ) + (select count(*) from forges where key_id <> all ($1)) as sealed`,
    values: [key_ids],
  })
  return only(rows).sealed
}
