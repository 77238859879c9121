import { CheckCommands, type CheckCommandsInput } from '../../contract/pull-requests/checks.ts'
import { type Db, only } from '../database.ts'
import { parseColumn } from '../json-column.ts'

const { checks } = CheckCommands.shape
type CheckCommand = CheckCommandsInput['checks'][number]
export type CheckCommandsRow = { checks: CheckCommand[]; updated_at: Date; updated_by: number }
type StoredRow = Omit<CheckCommandsRow, 'checks'> & { checks: string }
const parseRow = (row: StoredRow): CheckCommandsRow => ({ ...row, checks: parseColumn(checks, row.checks) })
const columns = 'checks, updated_at, updated_by'

/** Returns undefined when none were ever set. */
export async function getCheckCommands(
  db: Db,
  organization_id: number,
  repository_id: number,
): Promise<CheckCommandsRow | undefined> {
  const { rows } = await db.query<StoredRow>({
    name: 'get_check_commands',
    text: `select ${columns}
      from check_commands
      where organization_id = $1 and repository_id = $2`,
    values: [organization_id, repository_id],
  })
  return rows[0] && parseRow(rows[0])
}

/** Replaces the commands. */
export async function saveCheckCommands(
  db: Db,
  organization_id: number,
  repository_id: number,
  commands: readonly CheckCommand[],
  user_id: number,
): Promise<CheckCommandsRow> {
  const { rows } = await db.query<StoredRow>({
    name: 'save_check_commands',
    text: `insert into check_commands (organization_id, repository_id, checks, updated_by)
      values ($1, $2, $3, $4)
      on conflict (organization_id, repository_id)
        do update set checks = excluded.checks, updated_by = excluded.updated_by, updated_at = now()
      returning ${columns}`,
    values: [organization_id, repository_id, JSON.stringify(commands), user_id],
  })
  return parseRow(only(rows))
}

/** Deletes the commands of a removed repository. */
export async function deleteCheckCommandsOf(
  db: Db,
  organization_id: number,
  repository_id: number,
): Promise<void> {
  await db.query({
    name: 'delete_check_commands_of',
    text: 'delete from check_commands where organization_id = $1 and repository_id = $2',
    values: [organization_id, repository_id],
  })
}
