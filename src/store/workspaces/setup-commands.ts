import { SetupCommandSettings } from '../../contract/repositories/setup-commands.ts'
import { type Db, only } from '../database.ts'
import { parseColumn } from '../json-column.ts'

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

/** Replaces the settings. */
export async function saveSetupCommands(
  db: Db,
  organization_id: number,
  repository_id: number,
  set: Omit<SetupCommandsRow, 'updated_at' | 'updated_by'>,
  user_id: number,
): Promise<SetupCommandsRow> {
  const { rows } = await db.query<StoredRow>({
    name: 'save_setup_commands',
    text: `insert into setup_commands (
        organization_id, repository_id, commands, variables, on_failure, timeout_seconds, updated_by,
        maintenance_commands
      )
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict (organization_id, repository_id)
        do update set commands = excluded.commands, variables = excluded.variables,
          maintenance_commands = excluded.maintenance_commands, on_failure = excluded.on_failure,
          timeout_seconds = excluded.timeout_seconds, updated_by = excluded.updated_by, updated_at = now()
      returning ${columns}`,
    values: [
      organization_id,
      repository_id,
      JSON.stringify(set.commands),
      JSON.stringify(set.variables),
      set.on_failure,
      set.timeout_seconds,
      user_id,
      JSON.stringify(set.maintenance_commands),
    ],
  })
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
