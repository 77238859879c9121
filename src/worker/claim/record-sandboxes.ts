import { recordWorkspace } from '../../store/workspaces/workspaces.ts'
import type { WorkerServices } from '../services.ts'
import { requireOwned } from './fenced-error.ts'
import type { RunWriter } from './run-writer.ts'

/** Identities of sandboxes; null for one that has no identity outside of this process. */
export type Identities = readonly (string | null)[]

/** Records the folder of a run's files and the sandboxes of the run, so that the next worker can end them. */
export async function recordSandboxes(
  { db, folder_id }: Pick<WorkerServices, 'db' | 'folder_id'>,
  { organization_id, run_id, epoch }: RunWriter,
  workspace: string | null,
  identities: Identities,
): Promise<void> {
  const sandbox = identities.filter(identity => identity !== null).join('\n') || null
  requireOwned(await recordWorkspace(db, organization_id, run_id, epoch, { workspace, folder_id, sandbox }))
}
