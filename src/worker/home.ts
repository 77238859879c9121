import { adoptHome, createHome, homeOf, isHomeReady, markHomeReady } from '../sandbox/workspaces.ts'
import type { RunRow } from '../store/runs.ts'
import type { Claim } from './claim.ts'
import { isAway } from './place.ts'
import type { WorkerDeps } from './settings.ts'
import type { Setup } from './setup.ts'

/** The home folder of a run whose repository has setup commands. `ready`: they have run, for this folder and for the workspace beside it. */
export type Home = { path: string; ready: boolean; finish(): void }

/** That of the turn before, where the workspace is and the commands are still the same; otherwise an empty one. */
export async function openHome(
  deps: WorkerDeps,
  claim: Claim,
  run: RunRow,
  place: { workspace: string; adopted: boolean },
  { digest }: Setup,
): Promise<Home> {
  const { workspace, adopted } = place
  if (adopted && run.workspace !== null && isHomeReady(run.workspace, digest)) {
    adoptHome(run.workspace, workspace, digest)
    return { path: homeOf(workspace), ready: true, finish() {} }
  }
  const path = await createHome(deps.folders.workspaces, run.id, claim.epoch, deps.users.sandbox)
  return { path, ready: false, finish: () => markHomeReady(workspace, digest) }
}

/** Whether the setup commands have to run before the agent can begin. */
export function isToBeSetUp(deps: WorkerDeps, run: RunRow, setup: Setup | null): boolean {
  if (setup === null) return false
  return run.workspace === null || isAway(deps, run) || !isHomeReady(run.workspace, setup.digest)
}
