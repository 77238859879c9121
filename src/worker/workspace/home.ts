import { adoptHome, createHome, homeOf, isHomeReady, markHomeReady } from '../../sandbox/workspaces/workspaces.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { HostFolderDeps } from '../deps.ts'
import type { Setup } from '../setup/run-setup.ts'

/**
 * The home folder of a run whose repository has setup commands. `ready`: they have run, for this folder and for the workspace beside it.
 * `giveBack` renames the home folder of the previous turn back to be beside that workspace.
 */
export type Home = { path: string; ready: boolean; finish(): void; giveBack(workspace: string): void }

/** Returns the home folder of the previous turn if the workspace is adopted and the commands are unchanged, otherwise an empty one. */
export async function openHome(
  deps: Pick<HostFolderDeps, 'folders' | 'users'>,
  writer: RunWriter,
  run: RunRow,
  { workspace, adopted }: { workspace: string; adopted: boolean },
  { digest }: Setup,
): Promise<Home> {
  if (adopted && run.workspace !== null && isHomeReady(run.workspace, digest)) {
    adoptHome(run.workspace, workspace, digest)
    const giveBack = (earlier: string) => adoptHome(workspace, earlier, digest)
    return { path: homeOf(workspace), ready: true, finish() {}, giveBack }
  }
  const path = await createHome(deps.folders.workspaces, run.id, writer.epoch, deps.users.sandbox)
  return { path, ready: false, finish: () => markHomeReady(workspace, digest), giveBack() {} }
}
