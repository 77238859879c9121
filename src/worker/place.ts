import { join } from 'node:path'
import { errorText } from '../core/log.ts'
import type { Layer } from '../sandbox/port.ts'
import { adoptWorkspace, createWorkspace, isWorkspaceOf, removeWorkspace, templateOf, workspaceName } from '../sandbox/workspaces.ts'
import type { RunRow } from '../store/runs.ts'
import type { Claim } from './claim.ts'
import type { WorkerDeps } from './settings.ts'

/** The folder of a run's files. `layer`: they are a copy of the template, and are seen within it only. */
export type Place = { workspace: string; adopted: boolean; template: string | null; layer: Layer | null }

/**
 * The folder of the turn before where it can be had, otherwise an empty one, or a copy of `template`. Rejects with SandboxError, and leaves
 * the folder of the turn before where it was, when that cannot be shown.
 */
export async function openPlace(deps: WorkerDeps, claim: Claim, run: RunRow, template: () => Promise<string | null>): Promise<Place> {
  const adopted = adoptFolder(deps, claim, run)
  const name = adopted === null ? await template() : templateOf(adopted)
  const { folders, users, templates } = deps
  const workspace = adopted ?? (await createWorkspace(folders.workspaces, run.id, claim.epoch, users.sandbox, name))
  if (name === null) return { workspace, adopted: adopted !== null, template: null, layer: null }
  try {
    const layer = await templates.open(workspace, name)
    if (layer !== null) return { workspace, adopted: adopted !== null, template: name, layer }
  } catch (error) {
    if (adopted !== null && run.workspace !== null) {
      adoptWorkspace(adopted, run.workspace)
      throw error
    }
    deps.log('error', 'the files of a run cannot be shown on their template', { error: errorText(error) })
  }
  // As if it had been lost: what was kept of it is there.
  await removeWorkspace(workspace, users.sandbox)
  const plain = await createWorkspace(folders.workspaces, run.id, claim.epoch, users.sandbox)
  return { workspace: plain, adopted: false, template: null, layer: null }
}

/** The folder of the turn before, under the name of this owner; null when it is not on this machine any more, or not where it can be had. */
function adoptFolder(deps: WorkerDeps, claim: Claim, run: RunRow): string | null {
  if (run.workspace === null || isAway(deps, run)) return null
  const workspace = join(deps.folders.workspaces, workspaceName(run.id, claim.epoch, templateOf(run.workspace)))
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
