import { allRows, type Db } from '../database.ts'

type LeftoverWorkspace = { organization_id: number; run_id: number; workspace: string }

/** Returns workspaces in this data folder whose runs were deleted. */
export function listLeftoverWorkspaces(db: Db, folder_id: string): Promise<LeftoverWorkspace[]> {
  return allRows<LeftoverWorkspace>(db, {
    name: 'list_leftover_workspaces',
    text: `select organization_id, run_id, workspace
      from leftover_workspaces
      where host = $1
      limit 100`,
    values: [folder_id],
  })
}

/** Deletes the record of a workspace of a deleted run, after its files are gone. */
export async function forgetLeftoverWorkspace(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<void> {
  await db.query({
    name: 'forget_leftover_workspace',
    text: 'delete from leftover_workspaces where organization_id = $1 and run_id = $2',
    values: [organization_id, run_id],
  })
}
