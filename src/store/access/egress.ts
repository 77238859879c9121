import { Egress, type EgressRule } from '../../contract/organizations/egress.ts'
import type { EgressPreset } from '../../contract/organizations/egress-presets.ts'
import type { Db } from '../database.ts'
import { parseColumn } from '../json-column.ts'
import { insertRow, replacing } from '../statement.ts'

type SetupMode = 'off' | 'allowlist' | 'open'

/** `repository_id` null: of the whole organization. */
export type EgressRow = {
  repository_id: number | null
  mode: 'off' | 'allowlist' | null
  setup_mode: SetupMode | null
  allow: EgressRule[]
  presets: EgressPreset[]
}

type StoredRow = Omit<EgressRow, 'allow' | 'presets'> & { allow: string; presets: string }
const { allow, presets } = Egress.shape.agent.shape
const parseRow = (row: StoredRow): EgressRow => ({
  ...row,
  allow: parseColumn(allow, row.allow),
  presets: parseColumn(presets, row.presets),
})

/** Returns undefined when nothing was set. */
export async function getEgress(
  db: Db,
  organization_id: number,
  repository_id: number | null,
): Promise<EgressRow | undefined> {
  const { rows } = await db.query<StoredRow>({
    name: 'get_egress',
    text: `select repository_id, mode, setup_mode, allow, presets
      from egress
      where organization_id = $1 and repository_id is not distinct from $2`,
    values: [organization_id, repository_id],
  })
  return rows[0] && parseRow(rows[0])
}

/**
 * Returns the settings that apply to a run of the repository (null: no repository): those that were set, its
 * organization's first.
 */
export async function listEgressOfRun(
  db: Db,
  organization_id: number,
  repository_id: number | null,
): Promise<EgressRow[]> {
  const { rows } = await db.query<StoredRow>({
    name: 'list_egress_of_run',
    text: `select repository_id, mode, setup_mode, allow, presets
      from egress
      where organization_id = $1 and (repository_id is null or repository_id = $2)
      order by repository_id nulls first`,
    values: [organization_id, repository_id],
  })
  return rows.map(parseRow)
}

/** Locks the egress settings of the organization until the transaction ends. */
export async function lockEgress(db: Db, organization_id: number): Promise<void> {
  await db.query({
    name: 'lock_egress',
    text: 'select 1 from organizations where id = $1 for no key update',
    values: [organization_id],
  })
}

/** Replaces all settings. */
export async function saveEgress(
  db: Db,
  organization_id: number,
  row: EgressRow,
  user_id: number,
): Promise<void> {
  await db.query(
    insertRow(
      'egress',
      {
        organization_id,
        repository_id: row.repository_id,
        mode: row.mode,
        setup_mode: row.setup_mode,
        allow: JSON.stringify(row.allow),
        presets: JSON.stringify(row.presets),
        updated_by: user_id,
      },
      {
        end: `on conflict (organization_id, repository_id)
          do update set ${replacing('mode', 'setup_mode', 'allow', 'presets', 'updated_by')}, updated_at = now()`,
      },
    ),
  )
}

/** Deletes the settings of a removed repository. */
export async function deleteEgressOf(db: Db, organization_id: number, repository_id: number): Promise<void> {
  await db.query({
    name: 'delete_egress_of',
    text: 'delete from egress where organization_id = $1 and repository_id = $2',
    values: [organization_id, repository_id],
  })
}
