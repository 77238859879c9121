import { withProxyEnv } from '../../core/sandbox-environment.ts'
import { mirrorPath } from '../../git/process/git-host.ts'
import { isOfRunsAlone } from '../../git/read/revisions.ts'
import { exactlyBesideCommand, exactlyOnEnvironmentCommand } from '../../git/workspace/template-commands.ts'
import { cloneCommand, copyPreparedCommand } from '../../git/workspace/workspace-commands.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import { createCheckFolder, removeWorkspace } from '../../sandbox/workspaces/workspaces.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { type Base, StartError } from '../base/base.ts'
import { MIRROR_INSIDE, runInWorkspace, workspaceRepository } from '../base/checkout.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { openEgress, type RunEgress } from '../sandbox/egress.ts'
import { startRecorded } from '../sandbox/recorded-sandbox.ts'
import type { RunSecrets } from '../sandbox/run-secrets.ts'
import type { WorkerDeps } from '../settings.ts'
import type { Environment } from '../setup/environments.ts'
import { type FilesOf, runSetup, type SettingUp, type Setup } from '../setup/setup.ts'

/** What the checks of one commit are run with. */
export type CheckPlacesInput = {
  deps: WorkerDeps
  writer: RunWriter
  live: LiveChannel
  run: RunRow
  base: Base
  head_sha: string
  setup: Setup | null
  /** What the trace says that they are prepared for; absent: checks. */
  purpose?: SettingUp['purpose']
  setupEnded?: SettingUp['ended']
  secrets: RunSecrets
  /** Told of the sandbox that is there besides the run's own, so that whoever comes after us can end it. */
  started(identity: string | null): Promise<void>
  signal: AbortSignal
}

/** Clean sandboxes with the files of one commit. Disposing removes what was prepared for them. */
export type CheckPlaces = AsyncDisposable & {
  /** Has `use` work in a sandbox that nobody was in before, and removes it. Throws StartError where the files cannot be laid out. */
  within<T>(use: (sandbox: Sandbox) => Promise<T>): Promise<T>
}

const PREPARED_INSIDE = '/prepared'
const PREPARED_HOME_INSIDE = '/prepared-home'

/**
 * Where an environment is there that the run's base would stand on, each sandbox is a layer on it, with the files of the commit. Otherwise,
 * where the repository has setup commands, they run once, as for the run itself: on the repository's own files, with all secrets; then the files
 * of the commit take their place, and each sandbox gets a copy of that. Without them each is a fresh clone.
 */
export async function openCheckPlaces(input: CheckPlacesInput): Promise<CheckPlaces> {
  const { deps, writer, live, run, base, head_sha, setup, secrets, started, signal, purpose = 'checks', setupEnded: ended } = input
  await using stack = new AsyncDisposableStack()
  const folder = async (name: string, of: AsyncDisposableStack, template: string | null = null) => {
    const path = await createCheckFolder(deps.folders.workspaces, run.id, writer.epoch, name, deps.users.sandbox, template)
    of.defer(() => removeWorkspace(path, deps.users.sandbox))
    return path
  }
  const mirror = { host: mirrorPath(deps.git, base.repository.id), inside: MIRROR_INSIDE }
  const cloned = (sha: string) => cloneCommand({ ...workspaceRepository(deps, base, sha), base_sha: sha })
  const open = async (starting: Promise<Sandbox>, of: AsyncDisposableStack) => {
    const sandbox = of.use(await starting)
    await started(sandbox.identity)
    return sandbox
  }
  const lay = async (sandbox: Sandbox, command: string) => {
    const { status, output, ended } = await runInWorkspace(deps, sandbox, command, signal)
    signal.throwIfAborted()
    if (status !== 'ok') throw new StartError('setup_failed', 'clone_failed', `The files could not be laid out: ${output || ended}`)
  }

  const by_agents = setup !== null && (await isOfRunsAlone(deps.git, base.repository.id, base))
  const files_of: FilesOf = by_agents ? 'agent' : 'repository'
  // What is to be proved is proved anew.
  const standing_on = setup === null || purpose !== 'checks' ? null : await environmentFor(input, setup, files_of)
  let read_only = [mirror]
  let command = cloned(head_sha)
  if (standing_on !== null) {
    const { made_at_sha } = standing_on
    command = exactlyOnEnvironmentCommand({ ...workspaceRepository(deps, base, head_sha), base_sha: head_sha, made_at_sha })
  } else if (setup !== null) {
    const [workspace, home] = [await folder('prepared', stack), await folder('prepared.home', stack)]
    const shown = { workspace, home, read_only: [mirror] }
    const populateWorkspace = async (command: string) => {
      await using inside = new AsyncDisposableStack()
      const sandbox = await open(deps.driver.start({ ...shown, limits: deps.sandbox_limits }), inside)
      await lay(sandbox, command)
      await sandbox.stop()
    }
    await populateWorkspace(cloned(base.sha))
    await runSetup({ deps, writer, live, run, setup, files_of, secrets, shown, started, signal, purpose, ...(ended && { ended }) })
    const repository = workspaceRepository(deps, base, head_sha)
    await populateWorkspace(exactlyBesideCommand({ ...repository, base_sha: head_sha, made_at_sha: base.sha }))
    read_only = [mirror, { host: workspace, inside: PREPARED_INSIDE }, { host: home, inside: PREPARED_HOME_INSIDE }]
    command = copyPreparedCommand(PREPARED_INSIDE, PREPARED_HOME_INSIDE)
  }

  const prepared = stack.move()
  return {
    async within(use) {
      await using inside = new AsyncDisposableStack()
      const workspace = await folder('check', inside, standing_on?.template)
      const home = setup === null ? {} : { home: await folder('check.home', inside) }
      const layer = standing_on && (await deps.templates.open(workspace, home.home ?? null, standing_on.template))
      if (standing_on !== null && layer === null) throw new StartError('setup_failed', 'environment_gone', 'What was prepared is gone.')
      const within = layer === null ? {} : { within: inside.use(layer) }
      const egress: RunEgress = inside.use(await openEgress(deps, writer, live, run.repository_id, 'agent'))
      const environment = withProxyEnv(secrets.environment, egress.environment)
      const spec = { workspace, ...within, ...home, read_only, environment, sockets: egress.sockets }
      const sandbox = await open(startRecorded(deps, writer, 'check', spec), inside)
      // Who is to end waits for nothing that goes on in it.
      const giveUp = () => void sandbox.stop()
      signal.addEventListener('abort', giveUp)
      inside.defer(() => signal.removeEventListener('abort', giveUp))
      try {
        await lay(sandbox, command)
        return await use(sandbox)
      } finally {
        await sandbox.stop()
        await started(null)
        await egress.tellBlocked()
      }
    },
    [Symbol.asyncDispose]: () => prepared.disposeAsync(),
  }
}

/** Null: there is none to be had, or it would have to be brought up to date first, which takes what it is for a check to be clean. */
async function environmentFor(input: CheckPlacesInput, setup: Setup, files_of: FilesOf): Promise<Environment | null> {
  const { deps, writer, live, run, base, secrets, started, signal } = input
  const told = async (identities: (string | null)[]) => started(identities.filter(identity => identity !== null).join('\n') || null)
  const preparing = { deps, writer, live, run, base, setup, secrets, started: told, purpose: 'checks' as const, signal }
  const found = await deps.environments.provide(preparing, files_of === 'repository')
  return found !== null && (found.made_at_sha === base.sha || setup.maintenance.length === 0) ? found : null
}
