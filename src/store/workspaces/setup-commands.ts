import { SetupCommandSettings } from '../../contract/repositories/setup-commands.ts'
import { type Db, only } from '../database.ts'
import { parseColumn } from '../json-column.ts'
import { insertRow, replacing } from '../statement.ts'

export type SetupCommandsRow = {
  commands: string[]
  maintenance_commands: string[]
  variables: Record<string, string>
  on_failure: 'fail' | 'continue'
  timeout_seconds: number
  updated_at: Date
  updated_by: number
}
type StoredRow = Omit<SetupCommandsRow, 'commands' | 'maintenance_commands' | 'variables'> &
  Record<'commands' | 'maintenance_commands' | 'variables', string>
const { commands, maintenance_commands, variables } = SetupCommandSettings.shape
const parseRow = (row: StoredRow): SetupCommandsRow => ({
  ...row,
  commands: parseColumn(commands, row.commands),
  maintenance_commands: parseColumn(maintenance_commands, row.maintenance_commands),
  variables: parseColumn(variables, row.variables),
})
const columns =
  'commands, maintenance_commands, variables, on_failure, timeout_seconds, updated_at, updated_by'

/** Returns undefined when none were ever set. */
export async function getSetupCommands(
  db: Db,
  organization_id: number,
  repository_id: number,
): Promise<SetupCommandsRow | undefined> {
  const { rows } = await db.query<StoredRow>({
    name: 'get_setup_commands',
    text: `select ${columns}
      from setup_commands
      where organization_id = $1 and repository_id = $2`,
    values: [organization_id, repository_id],
  })
  return rows[0] && parseRow(rows[0])
}

/**
 * Returns the result of the last completed run that detected setup commands of the repository, as JSON text.
 */
export async function lastFoundSetup(
  db: Db,
  organization_id: number,
  repository_id: number,
): Promise<string | undefined> {
  const { rows } = await db.query<{ result: string }>({
    name: 'last_found_setup',
    text: `select result
      from runs
      where organization_id = $1
        and repository_id = $2
        and source_type = 'SETUP_COMMANDS'
        and status = 'completed'
      order by id desc
      limit 1`,
    values: [organization_id, repository_id],
  })
  return rows[0]?.result
}

const replaced = replacing(
  'commands',
  'variables',
  'maintenance_commands',
  'on_failure',
  'timeout_seconds',
  'updated_by',
)

/** Replaces the settings. */
export async function saveSetupCommands(
  db: Db,
  organization_id: number,
  repository_id: number,
  set: Omit<SetupCommandsRow, 'updated_at' | 'updated_by'>,
  user_id: number,
): Promise<SetupCommandsRow> {
  const { rows } = await db.query<StoredRow>(
    insertRow(
      'setup_commands',
      {
        organization_id,
        repository_id,
        commands: JSON.stringify(set.commands),
        maintenance_commands: JSON.stringify(set.maintenance_commands),
        variables: JSON.stringify(set.variables),
        on_failure: set.on_failure,
        timeout_seconds: set.timeout_seconds,
        updated_by: user_id,
      },
      {
        end: `on conflict (organization_id, repository_id)
          do update set ${replaced}, updated_at = now()
          returning ${columns}`,
      },
    ),
  )
  return parseRow(only(rows))
}

/** Deletes the settings of a removed repository. */
export async function deleteSetupCommandsOf(
  db: Db,
  organization_id: number,
  repository_id: number,
): Promise<void> {
  await db.query({
    name: 'delete_setup_commands_of',
    text: 'delete from setup_commands where organization_id = $1 and repository_id = $2',
    values: [organization_id, repository_id],
  })
}
