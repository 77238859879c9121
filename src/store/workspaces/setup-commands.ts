import { type Db, only } from '../database.ts'

/** Lists and maps as JSON text. */
export type SetupCommandsRow = {
  commands: string
  maintenance_commands: string
  variables: string
  on_failure: 'fail' | 'continue'
  timeout_seconds: number
  updated_at: Date
  updated_by: number
}
const columns = 'commands, maintenance_commands, variables, on_failure, timeout_seconds, updated_at, updated_by'

/** Returns undefined when none were ever set. */
export async function getSetupCommands(db: Db, organization_id: number, repository_id: number): Promise<SetupCommandsRow | undefined> {
  const { rows } = await db.query<SetupCommandsRow>({
    name: 'get_setup_commands',
    text: `select ${columns} from setup_commands where organization_id = $1 and repository_id = $2`,
    values: [organization_id, repository_id],
  })
  return rows[0]
}

/** Replaces the settings. */
export async function saveSetupCommands(
  db: Db,
  organization_id: number,
  repository_id: number,
  set: Omit<SetupCommandsRow, 'updated_at' | 'updated_by'>,
  user_id: number,
): Promise<SetupCommandsRow> {
  const { rows } = await db.query<SetupCommandsRow>({
    name: 'save_setup_commands',
    text: `insert into setup_commands (organization_id, repository_id, commands, variables, on_failure, timeout_seconds, updated_by, maintenance_commands)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict (organization_id, repository_id) do update set commands = excluded.commands, variables = excluded.variables,
        maintenance_commands = excluded.maintenance_commands, on_failure = excluded.on_failure, timeout_seconds = excluded.timeout_seconds, updated_by = excluded.updated_by, updated_at = now()
      returning ${columns}`,
    values: [
      organization_id,
      repository_id,
      set.commands,
      set.variables,
      set.on_failure,
      set.timeout_seconds,
      user_id,
      set.maintenance_commands,
    ],
  })
  return only(rows)
}

/** Deletes the settings of a removed repository. */
export async function deleteSetupCommandsOf(db: Db, organization_id: number, repository_id: number): Promise<void> {
  await db.query({
    name: 'delete_setup_commands_of',
    text: 'delete from setup_commands where organization_id = $1 and repository_id = $2',
    values: [organization_id, repository_id],
  })
}
