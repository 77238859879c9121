import { hasCommit } from '../../git/read/revisions.ts'
import { type Identities, recordSandboxes } from '../claim/record-sandboxes.ts'
import { ageOf, type Environment } from '../setup/environments.ts'
import type { History, OpenInput } from './opening.ts'
import { templateFor } from './populate-workspace.ts'
import { openWorkspaceFolders, type WorkspaceFolders } from './workspace-folders.ts'

/** `environment`: the one that the folders are a copy of. */
export type PreparedFolders = WorkspaceFolders & { environment: Environment | null }

/** Opens the run's folders, as a copy of an environment or of a shared checkout where that is possible. */
export async function openFolders(opening: OpenInput, history: History): Promise<PreparedFolders> {
  const { deps, writer, run, base, setup, program, startup, signal } = opening
  const provided: { environment: Environment | null } = { environment: null }
  const provideTemplate = async (): Promise<string | null> => {
    if (base === null) return null
    provided.environment = await provideEnvironment(opening, history)
    if (provided.environment !== null) return provided.environment.template
    return history.last === null ? templateFor(deps, run, base, signal) : null
  }
  const open = () => openWorkspaceFolders({ deps, writer, run, setup, program }, provideTemplate)
  const folders = await startup.during('sandbox_ms', open)
  const environment = folders.template === provided.environment?.template ? provided.environment : null
  if (environment !== null)
    startup.usedEnvironment({
      id: environment.row?.id ?? null,
      made: environment.made,
      age_seconds: ageOf(environment),
    })
  return { ...folders, environment }
}

async function provideEnvironment(opening: OpenInput, { by_agents }: History): Promise<Environment | null> {
  const { deps, writer, live, run, base, setup, secrets, startup, signal } = opening
  if (base === null || setup === null || !(await hasCommit(deps.git, base.repository.id, base.sha)))
    return null
  const started = (identities: Identities) => recordSandboxes(deps, writer, null, identities)
  const preparing = { deps, writer, live, run, base, setup, secrets, started, signal }
  return startup.during('setup_ms', () => deps.environments.provide(preparing, !by_agents))
}
