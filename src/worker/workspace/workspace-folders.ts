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
import type { Templates } from '../base/templates.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { AgentProgram } from '../sandbox/agent-program.ts'
import type { WorkerServices } from '../services.ts'
import type { Setup } from '../setup/run-setup.ts'
import { type Home, homeDigest, openHome } from './home.ts'

type Deps = { templates: Pick<Templates, 'has' | 'hasHome' | 'open' | 'problem'> }
type FolderInput = {
  deps: Deps & Pick<WorkerServices, 'log' | 'folders' | 'users'>
  writer: RunWriter
  run: RunRow
  setup: Setup | null
  program: AgentProgram | null
}

/** The folders of a run's files. `layer`: they are copies of `template`, and only visible through it. */
export type WorkspaceFolders = {
  workspace: string
  home: Home | null
  adopted: boolean
  template: string | null
  layer: Layer | null
}

/**
 * Opens the folders of the previous turn if they are available, otherwise empty ones or copies of a template.
 * With a setup, and for a program that continues its sessions, there is a home folder beside the workspace.
 * Rejects with SandboxError if the folders cannot be mounted; those of the previous turn then keep their
 * names.
 */
export async function openWorkspaceFolders(
  input: FolderInput,
  provideTemplate: () => Promise<string | null>,
): Promise<WorkspaceFolders> {
  const { deps, writer, run } = input
  const existing = adoptFolder(input)
  const adopted = existing !== null
  const name = adopted ? templateOf(existing) : await provideTemplate()
  const { folders, users, templates } = deps
  const workspace =
    existing ?? (await createWorkspace(folders.workspaces, run.id, writer.epoch, users.sandbox, name))
  const home = await homeFor(input, { workspace, adopted })
  if (name === null) return { workspace, home, adopted, template: null, layer: null }
  // A new home folder beside files of an earlier turn does not match what the template has prepared.
  const on_template = templates.hasHome(name) && (home?.ready || !adopted)
  try {
    const layer = await templates.open(workspace, on_template ? (home?.path ?? null) : null, name)
    if (layer !== null) return { workspace, home, adopted, template: name, layer }
  } catch (error) {
    if (adopted && run.workspace !== null) {
      home?.giveBack(run.workspace)
      adoptWorkspace(workspace, run.workspace)
      throw error
    }
    deps.log('error', 'the files of a run cannot be mounted on their template', { error: errorText(error) })
  }
  // Treated as lost: they are restored from checkpoints.
  await removeWithAll(workspace, users.sandbox)
  const plain = await createWorkspace(folders.workspaces, run.id, writer.epoch, users.sandbox)
  const new_home = await homeFor(input, { workspace: plain, adopted: false })
  return { workspace: plain, home: new_home, adopted: false, template: null, layer: null }
}

const homeFor = (
  { deps, writer, run, setup, program }: FolderInput,
  at: { workspace: string; adopted: boolean },
) => openHome(deps, writer, run, at, { setup, program })

/**
 * Renames the folder of the previous turn for this worker. Null if it is no longer on this machine, or cannot
 * be renamed.
 */
function adoptFolder({ deps, writer, run }: FolderInput): string | null {
  if (run.workspace === null || isAway(deps, run)) return null
  const workspace = join(
    deps.folders.workspaces,
    workspaceName(run.id, writer.epoch, templateOf(run.workspace)),
  )
  try {
    adoptWorkspace(run.workspace, workspace)
    return workspace
  } catch (error) {
    // Removed at this moment, or on another disk: it is restored from checkpoints.
    if (['ENOENT', 'EXDEV', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return null
    throw error
  }
}

/** Returns whether the run has worked before and its files must be restored here first. */
export function mustRestore(deps: Deps, run: RunRow): boolean {
  const started = run.steps > 0 || run.forked_at_seq !== null
  return started && isAway(deps, run)
}

/**
 * Whether the files are in no data folder of this machine, or the template that they are a copy of is
 * missing.
 */
function isAway({ templates }: Deps, { workspace, workspace_host }: RunRow): boolean {
  if (workspace === null || workspace_host === null || !isWorkspaceOf(workspace, workspace_host)) return true
  const template = templateOf(workspace)
  return template !== null && (templates.problem !== null || !templates.has(template))
}

/** Returns whether the setup commands must run before the agent can start. */
export function mustSetUp(
  deps: Deps,
  run: RunRow,
  setup: Setup | null,
  program: AgentProgram | null,
): boolean {
  if (setup === null) return false
  return (
    run.workspace === null ||
    isAway(deps, run) ||
    !isHomeReady(run.workspace, homeDigest(run, { setup, program }))
  )
}
