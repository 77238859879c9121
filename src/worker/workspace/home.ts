import { adoptHome, createHome, homeOf, isHomeReady, markHomeReady } from '../../sandbox/workspaces/workspaces.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import type { Setup } from '../setup/setup.ts'

/**
 * The home folder of a run whose repository has setup commands. `ready`: they have run, for this folder and for the workspace beside it.
 * `giveBack` leaves one of the turn before where it was, beside that workspace.
 */
export type Home = { path: string; ready: boolean; finish(): void; giveBack(workspace: string): void }

/** That of the turn before, where the workspace is and the commands are still the same; otherwise an empty one. */
export async function openHome(
  deps: WorkerDeps,
  writer: RunWriter,
  run: RunRow,
  place: { workspace: string; adopted: boolean },
  { digest }: Setup,
): Promise<Home> {
  const { workspace, adopted } = place
  if (adopted && run.workspace !== null && isHomeReady(run.workspace, digest)) {
    adoptHome(run.workspace, workspace, digest)
    const giveBack = (earlier: string) => adoptHome(workspace, earlier, digest)
    return { path: homeOf(workspace), ready: true, finish() {}, giveBack }
  }
  const path = await createHome(deps.folders.workspaces, run.id, writer.epoch, deps.users.sandbox)
  return { path, ready: false, finish: () => markHomeReady(workspace, digest), giveBack() {} }
}
