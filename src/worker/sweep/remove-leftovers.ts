import { removeWorkspace } from '../../sandbox/workspaces/workspaces.ts'
import { deleteOldKeys } from '../../store/access/idempotency-keys.ts'
import { deleteOldInvitations } from '../../store/access/invitations.ts'
import { deleteIdleWindows } from '../../store/access/rate-windows.ts'
import { deleteExpiredTokens } from '../../store/access/token-access.ts'
import { deleteSilentWorkers } from '../../store/leases/workers.ts'
import { forgetLeftoverWorkspace, listLeftoverWorkspaces } from '../../store/runs/deletions.ts'
import type { WorkerServices } from '../services.ts'

/** The maximum of the configuration. */
const MAX_WINDOW_SECONDS = 999_999
const SILENT_WORKER_SECONDS = 3_600

/**
 * Removes workspaces of deleted runs, expired tokens and invitations, stored responses and idle rate windows.
 */
export async function sweepLeftovers(
  deps: Pick<WorkerServices, 'db' | 'folder_id' | 'users'>,
): Promise<void> {
  await deleteExpiredTokens(deps.db)
  await deleteOldInvitations(deps.db)
  await deleteOldKeys(deps.db)
  await deleteIdleWindows(deps.db, MAX_WINDOW_SECONDS)
  await deleteSilentWorkers(deps.db, SILENT_WORKER_SECONDS)
  for (const left of await listLeftoverWorkspaces(deps.db, deps.folder_id)) {
    await removeWorkspace(left.workspace, deps.users.sandbox)
    await forgetLeftoverWorkspace(deps.db, left.organization_id, left.run_id)
  }
}
