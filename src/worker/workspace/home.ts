import { createHash } from 'node:crypto'
import {
  adoptHome,
  createHome,
  homeOf,
  isHomeReady,
  markHomeReady,
} from '../../sandbox/workspaces/workspaces.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { AgentProgram } from '../sandbox/agent-program.ts'
import type { WorkerServices } from '../services.ts'
import type { Setup } from '../setup/run-setup.ts'

/**
 * For what a home folder is made: `setup` null: there are no commands; `program` null: the built-in agent.
 */
type HomePurpose = { setup: Setup | null; program: Pick<AgentProgram, 'permissions' | 'continues'> | null }

/**
 * The home folder of a run whose repository has setup commands, or whose agent continues the session that it
 * stores there. `kept`: it is that of the previous turn. `ready`: the commands have run, for this folder and
 * for the workspace beside it. `giveBack` renames the home folder of the previous turn back to be beside that
 * workspace.
 */
export type Home = {
  path: string
  kept: boolean
  ready: boolean
  finish(): void
  giveBack(workspace: string): void
}

/**
 * Returns the home folder of the previous turn if the workspace is adopted and the home folder was made for
 * the same, otherwise an empty one. Null: no folder is kept, and that of the sandbox ends with it.
 */
export async function openHome(
  deps: Pick<WorkerServices, 'folders' | 'users'>,
  writer: RunWriter,
  run: RunRow,
  { workspace, adopted }: { workspace: string; adopted: boolean },
  purpose: HomePurpose,
): Promise<Home | null> {
  const { setup, program } = purpose
  if (setup === null && !program?.continues) return null
  const digest = homeDigest(run, purpose)
  if (adopted && run.workspace !== null && isHomeReady(run.workspace, digest)) {
    adoptHome(run.workspace, workspace, digest)
    const giveBack = (earlier: string) => adoptHome(workspace, earlier, digest)
    return { path: homeOf(workspace), kept: true, ready: setup !== null, finish() {}, giveBack }
  }
  const path = await createHome(deps.folders.workspaces, run.id, writer.epoch, deps.users.sandbox)
  if (setup === null) markHomeReady(workspace, digest)
  return { path, kept: false, ready: false, finish: () => markHomeReady(workspace, digest), giveBack() {} }
}

/**
 * Returns the digest in the mark of a home folder. An agent of another vendor reads its settings and the
 * permissions that it has been given from there, and can write them: under another policy it gets an empty
 * one.
 */
export function homeDigest({ agent_type }: RunRow, { setup, program }: HomePurpose): string {
  if (program === null) return setup?.digest ?? ''
  const { permissions, continues } = program
  const purpose = JSON.stringify([setup?.digest ?? null, agent_type, permissions, continues])
  return createHash('sha256').update(purpose).digest('hex').slice(0, 16)
}
