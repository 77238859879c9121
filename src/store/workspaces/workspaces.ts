import { allRows, changedOne, type Db } from '../database.ts'
import { isHeldBy } from '../fence.ts'
import { now, updateRow } from '../statement.ts'
import { TO_THE_END } from './checkpoints.ts'

/**
 * Records the folder of a run's files (null: not created yet), its data folder, and its sandboxes (null: no
 * start yet), under the fence.
 */
export function recordWorkspace(
  db: Db,
  organization_id: number,
  run_id: number,
  epoch: number,
  location: { workspace: string | null; folder_id: string; sandbox: string | null },
): Promise<boolean> {
  return changedOne(
    db,
    updateRow('runs', {
      where: { organization_id, id: run_id },
      and: bind => isHeldBy(bind(epoch)),
      set: { workspace: location.workspace, workspace_host: location.folder_id, sandbox: location.sandbox },
    }),
  )
}

/**
 * Records the result of the start of a turn: the commit that it is based on and the branch that it will
 * write.
 */
export function recordCheckout(
  db: Db,
  organization_id: number,
  run_id: number,
  epoch: number,
  checkout: { base_ref: string | null; base_sha: string | null; branch: string | null },
): Promise<boolean> {
  return changedOne(
    db,
    updateRow('runs', {
      where: { organization_id, id: run_id },
      and: bind => isHeldBy(bind(epoch)),
      set: {
        base_ref: checkout.base_ref,
        base_sha: checkout.base_sha,
        branch: checkout.branch,
        updated_at: now,
      },
    }),
  )
}

/** Records the branch that the run continues with, of which the remote has nothing yet, under the fence. */
export function recordNextBranch(
  db: Db,
  organization_id: number,
  run_id: number,
  epoch: number,
  next: { base_sha: string; branch: string },
): Promise<boolean> {
  return changedOne(
    db,
    updateRow('runs', {
      where: { organization_id, id: run_id },
      and: bind => isHeldBy(bind(epoch)),
      set: {
        base_sha: next.base_sha,
        branch: next.branch,
        pushed_sha: null,
        abandoned_branches: () => 'abandoned_branches + 1',
        updated_at: now,
      },
    }),
  )
}

/**
 * Returns workspaces in this data folder that are no longer needed: their run ended more than `seconds` ago
 * with all files checkpointed, or as a single tool call, or more than `hours` ago.
 */
export function listStaleWorkspaces(
  db: Db,
  folder_id: string,
  after: { seconds: number; hours: number },
): Promise<{ id: number; organization_id: number; workspace: string }[]> {
  return allRows<{ id: number; organization_id: number; workspace: string }>(db, {
    name: 'list_stale_workspaces',
    text: `select id, organization_id, workspace
      from runs r
      where workspace is not null
        and workspace_host = $1
        and finished_at < now() - make_interval(secs => $2)
        and (
          finished_at < now() - make_interval(hours => $3)
          or source_type = 'TOOL'
          or exists (
            select 1
            from checkpoints c
            where c.organization_id = r.organization_id
              and c.run_id = r.id
              and c.through_seq = ${TO_THE_END}
              and c.left_out is null
          )
        )
      limit 100`,
    values: [folder_id, after.seconds, after.hours],
  })
}

/** Forgets a workspace that is about to be removed. Returns false when a new turn has taken it meanwhile. */
export function forgetWorkspace(
  db: Db,
  organization_id: number,
  run_id: number,
  workspace: string,
): Promise<boolean> {
  return changedOne(db, {
    name: 'forget_workspace',
    text: `update runs
      set workspace = null
      where organization_id = $1 and id = $2 and workspace = $3 and finished_at is not null`,
    values: [organization_id, run_id, workspace],
  })
}

/**
 * Returns folder and epoch of runs by their ids. Across all organizations, because folders are named by ids.
 */
export function findOwners(
  db: Db,
  run_ids: number[],
): Promise<
  { id: number; epoch: number; workspace: string | null; workspace_host: string | null; owned: boolean }[]
> {
  return allRows<{
    id: number
    epoch: number
    workspace: string | null
    workspace_host: string | null
    owned: boolean
  }>(db, {
    name: 'find_owners',
    text: `select id, epoch, workspace, workspace_host, owner is not null as owned
      from runs
      where id = any($1::bigint[])`,
    values: [run_ids],
  })
}
