import { StoredModelSettings } from '../../contract/model-settings.ts'
import { changedOne, type Db, only } from '../database.ts'
import { parseColumn } from '../json-column.ts'

/**
 * A model (`provider/model`) or a provider (`provider`) that an organization has configured. `settings`:
 * without the key.
 */
export type OrganizationModelRow = {
  id: string
  settings: StoredModelSettings
  updated_at: Date
  updated_by: number
}
type StoredRow = Omit<OrganizationModelRow, 'settings'> & { settings: string }
const parseRow = (row: StoredRow): OrganizationModelRow => ({
  ...row,
  settings: parseColumn(StoredModelSettings, row.settings),
})
const columns = 'id, settings, updated_at, updated_by'

/** Returns all of an organization, by id. */
export async function listOrganizationModels(
  db: Db,
  organization_id: number,
): Promise<OrganizationModelRow[]> {
  const { rows } = await db.query<StoredRow>({
    name: 'list_organization_models',
    text: `select ${columns}
      from organization_models
      where organization_id = $1
      order by id collate "C"`,
    values: [organization_id],
  })
  return rows.map(parseRow)
}

/** Creates or replaces one. The caller has counted them, with the secrets of the organization locked. */
export async function saveOrganizationModel(
  db: Db,
  organization_id: number,
  { id, settings, user_id }: { id: string; settings: StoredModelSettings; user_id: number },
): Promise<OrganizationModelRow> {
  const { rows } = await db.query<StoredRow>({
    name: 'save_organization_model',
    text: `insert into organization_models (organization_id, id, settings, updated_by)
      values ($1, $2, $3, $4)
      on conflict (organization_id, id)
        do update set settings = excluded.settings, updated_by = excluded.updated_by, updated_at = now()
      returning ${columns}`,
    values: [organization_id, id, JSON.stringify(settings), user_id],
  })
  return parseRow(only(rows))
}

/** Returns false when there was none. */
export function deleteOrganizationModel(db: Db, organization_id: number, id: string): Promise<boolean> {
  return changedOne(db, {
    name: 'delete_organization_model',
    text: 'delete from organization_models where organization_id = $1 and id = $2',
    values: [organization_id, id],
  })
}
