import type { Db } from '../database.ts'
import { parseColumn, TextList } from '../json-column.ts'
import { insertRow, replacing } from '../statement.ts'

/** An environment that setup commands prepared on one machine. `left_out`: paths. */
export type EnvironmentRow = {
  id: number
  repository_id: number
  folder_id: string
  template: string
  key: string
  setup_digest: string
  manifests_digest: string
  base_ref: string
  base_sha: string
  left_out: string[]
  digest: string
  bytes: number
  setup_ms: number
  run_id: number
  made_at: Date
  last_used_at: Date
  uses: number
}
type StoredRow = Omit<EnvironmentRow, 'left_out'> & { left_out: string }
const parseRow = (row: StoredRow): EnvironmentRow => ({
  ...row,
  left_out: parseColumn(TextList, row.left_out),
})
const columns =
  'id, repository_id, folder_id, template, key, setup_digest, manifests_digest, base_ref, base_sha, left_out, digest, bytes, setup_ms, run_id, made_at, last_used_at, uses'

/** The key of an environment on a machine; `max_age_seconds`: older ones are not reused. */
type EnvironmentKey = { repository_id: number; folder_id: string; key: string; max_age_seconds: number }

/** Returns the environment of a key on this data folder, if it is young enough for the repository. */
export async function findEnvironment(
  db: Db,
  organization_id: number,
  at: EnvironmentKey,
): Promise<EnvironmentRow | undefined> {
  const { rows } = await db.query<StoredRow>({
    name: 'find_environment',
    text: `select ${columns}
      from environments
      where organization_id = $1
        and repository_id = $2
        and folder_id = $3
        and key = $4
        and made_at > now() - make_interval(secs => $5)`,
    values: [organization_id, at.repository_id, at.folder_id, at.key, at.max_age_seconds],
  })
  return rows[0] && parseRow(rows[0])
}

/** Returns undefined when it was deleted meanwhile. */
export async function countEnvironmentUse(
  db: Db,
  organization_id: number,
  id: number,
): Promise<EnvironmentRow | undefined> {
  const { rows } = await db.query<StoredRow>({
    name: 'count_environment_use',
    text: `update environments
      set uses = uses + 1, last_used_at = now()
      where organization_id = $1 and id = $2
      returning ${columns}`,
    values: [organization_id, id],
  })
  return rows[0] && parseRow(rows[0])
}

type NewEnvironment = Omit<EnvironmentRow, 'id' | 'made_at' | 'last_used_at' | 'uses'> & {
  organization_id: number
  max_age_seconds: number
}

const replaced = replacing(
  'template',
  'base_sha',
  'left_out',
  'digest',
  'bytes',
  'setup_ms',
  'run_id',
  'uses',
)

/**
 * Inserts an environment, or replaces one that is too old. Returns undefined when another worker has created
 * the same meanwhile.
 */
export async function insertEnvironment(
  db: Db,
  environment: NewEnvironment,
): Promise<EnvironmentRow | undefined> {
  const { rows } = await db.query<StoredRow>(
    insertRow(
      'environments',
      {
        organization_id: environment.organization_id,
        repository_id: environment.repository_id,
        folder_id: environment.folder_id,
        template: environment.template,
        key: environment.key,
        setup_digest: environment.setup_digest,
        manifests_digest: environment.manifests_digest,
        base_ref: environment.base_ref,
        base_sha: environment.base_sha,
        left_out: JSON.stringify(environment.left_out),
        digest: environment.digest,
        bytes: environment.bytes,
        setup_ms: environment.setup_ms,
        run_id: environment.run_id,
        uses: 1,
      },
      {
        as: 'e',
        end: bind => `on conflict (organization_id, repository_id, folder_id, key)
          do update set ${replaced}, made_at = now(), last_used_at = now()
          where e.made_at <= now() - make_interval(secs => ${bind(environment.max_age_seconds)})
          returning ${columns}`,
      },
    ),
  )
  return rows[0] && parseRow(rows[0])
}

/** Returns the environments, newest first. */
export async function listEnvironments(
  db: Db,
  organization_id: number,
  repository_id: number,
): Promise<EnvironmentRow[]> {
  const { rows } = await db.query<StoredRow>({
    name: 'list_environments',
    text: `select ${columns}
      from environments
      where organization_id = $1 and repository_id = $2
      order by id desc
      limit 1000`,
    values: [organization_id, repository_id],
  })
  return rows.map(parseRow)
}

/**
 * Deletes environments: no new run uses them, and the next sweep of their machine removes the files. `id`
 * null: all of the repository. Returns their ids.
 */
export async function deleteEnvironments(
  db: Db,
  organization_id: number,
  repository_id: number,
  id: number | null,
): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: 'delete_environments',
    text: `delete from environments
      where organization_id = $1 and repository_id = $2 and ($3::bigint is null or id = $3)
      returning id`,
    values: [organization_id, repository_id, id],
  })
  return rows.map(row => row.id)
}

/** Returns the templates in a data folder that runs may still reuse; deletes those that are too old. */
export async function listEnvironmentTemplates(
  db: Db,
  folder_id: string,
  max_age_seconds: number,
): Promise<string[]> {
  const { rows } = await db.query<{ template: string }>({
    name: 'list_environment_templates',
    text: `with old as (
        delete from environments
        where folder_id = $1 and made_at <= now() - make_interval(secs => $2)
      )
      select template
      from environments
      where folder_id = $1 and made_at > now() - make_interval(secs => $2)`,
    values: [folder_id, max_age_seconds],
  })
  return rows.map(({ template }) => template)
}

/** Deletes environments whose files are missing or corrupt. */
export async function forgetEnvironments(
  db: Db,
  folder_id: string,
  templates: readonly string[],
): Promise<void> {
  await db.query({
    name: 'forget_environments',
    text: 'delete from environments where folder_id = $1 and template = any($2)',
    values: [folder_id, templates],
  })
}
