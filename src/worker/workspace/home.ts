import { adoptHome, createHome, homeOf, isHomeReady, markHomeReady } from '../../sandbox/workspaces/workspaces.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { HostFolderDeps } from '../deps.ts'
import type { Setup } from '../setup/run-setup.ts'

/** Is in the mark of a home folder without a setup, instead of the digest of one. */
const NO_SETUP = '0'.repeat(16)

/**
 * The home folder of a run whose repository has setup commands, or whose agent stores its session there. `ready`: the commands have run, for
 * this folder and for the workspace beside it. `giveBack` renames the home folder of the previous turn back to be beside that workspace.
 */
export type Home = { path: string; ready: boolean; finish(): void; giveBack(workspace: string): void }

/** Returns the home folder of the previous turn if the workspace is adopted and the commands are unchanged, otherwise an empty one. `setup` null: there are no commands. */
export async function openHome(
  deps: Pick<HostFolderDeps, 'folders' | 'users'>,
  writer: RunWriter,
  run: RunRow,
  { workspace, adopted }: { workspace: string; adopted: boolean },
  setup: Setup | null,
): Promise<Home> {
  const digest = setup?.digest ?? NO_SETUP
  if (adopted && run.workspace !== null && isHomeReady(run.workspace, digest)) {
    adoptHome(run.workspace, workspace, digest)
    const giveBack = (earlier: string) => adoptHome(workspace, earlier, digest)
    return { path: homeOf(workspace), ready: setup !== null, finish() {}, giveBack }
  }
  const path = await createHome(deps.folders.workspaces, run.id, writer.epoch, deps.users.sandbox)
  if (setup === null) markHomeReady(workspace, digest)
  return { path, ready: false, finish: () => markHomeReady(workspace, digest), giveBack() {} }
}
