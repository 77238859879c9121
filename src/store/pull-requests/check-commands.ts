import { type Db, only } from '../database.ts'

/** `checks` as JSON text. */
export type CheckCommandsRow = { checks: string; updated_at: Date; updated_by: number }
const columns = 'checks, updated_at, updated_by'

/** Returns undefined when none were ever set. */
export async function getCheckCommands(db: Db, organization_id: number, repository_id: number): Promise<CheckCommandsRow | undefined> {
  const { rows } = await db.query<CheckCommandsRow>({
    name: 'get_check_commands',
    text: `select ${columns} from check_commands where organization_id = $1 and repository_id = $2`,
    values: [organization_id, repository_id],
  })
  return rows[0]
}

/** Replaces the commands. */
export async function saveCheckCommands(
  db: Db,
  organization_id: number,
  repository_id: number,
  checks: string,
  user_id: number,
): Promise<CheckCommandsRow> {
  const { rows } = await db.query<CheckCommandsRow>({
    name: 'save_check_commands',
    text: `insert into check_commands (organization_id, repository_id, checks, updated_by) values ($1, $2, $3, $4)
      on conflict (organization_id, repository_id) do update set checks = excluded.checks, updated_by = excluded.updated_by, updated_at = now()
      returning ${columns}`,
    values: [organization_id, repository_id, checks, user_id],
  })
  return only(rows)
}

/** Deletes the commands of a removed repository. */
export async function deleteCheckCommandsOf(db: Db, organization_id: number, repository_id: number): Promise<void> {
  await db.query({
    name: 'delete_check_commands_of',
    text: 'delete from check_commands where organization_id = $1 and repository_id = $2',
    values: [organization_id, repository_id],
  })
}
