import type { Db } from './database.ts'

/**
 * Removes a run that has ended with its trace, journal, messages, events, change and artifacts. Its children and pull requests stay
 * without it; its folder is left to the sweep of the machine that has it. False: there is none, or it has not ended.
 */
export async function deleteRun(db: Db, organization_id: number, run_id: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'delete_run',
    text: `with gone as (
        delete from runs where organization_id = $1 and id = $2 and status in ('completed', 'failed', 'cancelled')
        returning organization_id, id, workspace, workspace_host
      ), left_over as (
        insert into leftover_workspaces (organization_id, run_id, workspace, host)
        select organization_id, id, workspace, workspace_host from gone where workspace is not null and workspace_host is not null
      )
      select id from gone`,
    values: [organization_id, run_id],
  })
  return rowCount === 1
}

export type LeftoverWorkspace = { organization_id: number; run_id: number; workspace: string }

/** Workspaces in this data folder whose runs were deleted. */
export async function listLeftoverWorkspaces(db: Db, folder_id: string): Promise<LeftoverWorkspace[]> {
  const { rows } = await db.query<LeftoverWorkspace>({
    name: 'list_leftover_workspaces',
    text: 'select organization_id, run_id, workspace from leftover_workspaces where host = $1 limit 100',
    values: [folder_id],
  })
  return rows
}

export async function forgetLeftoverWorkspace(db: Db, organization_id: number, run_id: number): Promise<void> {
  await db.query({
    name: 'forget_leftover_workspace',
    text: 'delete from leftover_workspaces where organization_id = $1 and run_id = $2',
    values: [organization_id, run_id],
  })
}
