import { join } from 'node:path'
import { errorText } from '../../core/log.ts'
import type { Layer } from '../../sandbox/port.ts'
import {
  adoptWorkspace,
  createWorkspace,
  isHomeReady,
  isWorkspaceOf,
  removeWithAll,
  templateOf,
  workspaceName,
} from '../../sandbox/workspaces/workspaces.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import type { Setup } from '../setup/setup.ts'
import { type Home, openHome } from './home.ts'

/** The folders of a run's files. `layer`: they are copies of the template, and are seen within it only. */
export type Place = { workspace: string; home: Home | null; adopted: boolean; template: string | null; layer: Layer | null }

/**
 * The folders of the turn before where they can be had, otherwise empty ones, or copies of `template`. With a setup there is a home folder
 * beside the workspace. Rejects with SandboxError, and leaves the folders of the turn before where they were, when they cannot be shown.
 */
export async function openPlace(
  deps: WorkerDeps,
  writer: RunWriter,
  run: RunRow,
  setup: Setup | null,
  template: () => Promise<string | null>,
): Promise<Place> {
  const adopted = adoptFolder(deps, writer, run)
  const name = adopted === null ? await template() : templateOf(adopted)
  const { folders, users, templates } = deps
  const workspace = adopted ?? (await createWorkspace(folders.workspaces, run.id, writer.epoch, users.sandbox, name))
  const home = setup === null ? null : await openHome(deps, writer, run, { workspace, adopted: adopted !== null }, setup)
  if (name === null) return { workspace, home, adopted: adopted !== null, template: null, layer: null }
  // A home folder that is made anew beside files that stay has nothing to do with what was prepared for others.
  const on_template = templates.hasHome(name) && (home?.ready || adopted === null)
  try {
    const layer = await templates.open(workspace, on_template ? (home?.path ?? null) : null, name)
    if (layer !== null) return { workspace, home, adopted: adopted !== null, template: name, layer }
  } catch (error) {
    if (adopted !== null && run.workspace !== null) {
      home?.giveBack(run.workspace)
      adoptWorkspace(adopted, run.workspace)
      throw error
    }
    deps.log('error', 'the files of a run cannot be shown on their template', { error: errorText(error) })
  }
  // As if they had been lost: what was kept of them is there.
  await removeWithAll(workspace, users.sandbox)
  const plain = await createWorkspace(folders.workspaces, run.id, writer.epoch, users.sandbox)
  const new_home = setup === null ? null : await openHome(deps, writer, run, { workspace: plain, adopted: false }, setup)
  return { workspace: plain, home: new_home, adopted: false, template: null, layer: null }
}

/** The folder of the turn before, under the name of this owner; null when it is not on this machine any more, or not where it can be had. */
function adoptFolder(deps: WorkerDeps, writer: RunWriter, run: RunRow): string | null {
  if (run.workspace === null || isAway(deps, run)) return null
  const workspace = join(deps.folders.workspaces, workspaceName(run.id, writer.epoch, templateOf(run.workspace)))
  try {
    adoptWorkspace(run.workspace, workspace)
    return workspace
  } catch (error) {
    // Removed at this moment, or on another disk: what was kept of it is there.
    if (['ENOENT', 'EXDEV', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

/** Whether the files of a run that was worked on before have to be brought here first. */
export function isElsewhere(deps: WorkerDeps, run: RunRow): boolean {
  const begun = run.steps > 0 || run.forked_at_seq !== null
  return begun && isAway(deps, run)
}

/** Not in this process's data folder, nor in another one of this machine; or what it is a copy of is not in this one. */
export function isAway({ templates }: WorkerDeps, { workspace, workspace_host }: RunRow): boolean {
  if (workspace === null || workspace_host === null || !isWorkspaceOf(workspace, workspace_host)) return true
  const template = templateOf(workspace)
  return template !== null && (templates.problem !== null || !templates.has(template))
}

/** Whether the setup commands have to run before the agent can begin. */
export function isToBeSetUp(deps: WorkerDeps, run: RunRow, setup: Setup | null): boolean {
  if (setup === null) return false
  return run.workspace === null || isAway(deps, run) || !isHomeReady(run.workspace, setup.digest)
}
