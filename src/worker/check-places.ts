import { mirrorPath } from '../git/git-host.ts'
import { isOfRunsAlone } from '../git/revisions.ts'
import { cloneCommand, copyPreparedCommand, takeFilesAwayCommand } from '../git/workspace-commands.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { createCheckFolder, removeWorkspace } from '../sandbox/workspaces.ts'
import type { RunRow } from '../store/runs.ts'
import { type Base, StartError } from './base.ts'
import { MIRROR_INSIDE, runInWorkspace, workspaceRepository } from './checkout.ts'
import type { Claim } from './claim.ts'
import { openEgress, type RunEgress } from './egress.ts'
import { startRecorded } from './recorded-sandbox.ts'
import type { RunSecrets } from './run-secrets.ts'
import type { WorkerDeps } from './settings.ts'
import { type FilesOf, runSetup, type Setup } from './setup.ts'

/** What the checks of one commit are run with. */
export type CheckPlacesInput = {
  deps: WorkerDeps
  claim: Claim
  run: RunRow
  base: Base
  head_sha: string
  setup: Setup | null
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
 * Where the repository has setup commands they run once, as for the run itself: on the repository's own files, with all secrets; then the files
 * of the commit take their place, and each sandbox gets a copy of that. Without them each is a fresh clone.
 */
export async function openCheckPlaces(input: CheckPlacesInput): Promise<CheckPlaces> {
  const { deps, claim, run, base, head_sha, setup, secrets, started, signal } = input
  await using stack = new AsyncDisposableStack()
  const folder = async (name: string, of: AsyncDisposableStack) => {
    const path = await createCheckFolder(deps.folders.workspaces, run.id, claim.epoch, name, deps.users.sandbox)
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

  let read_only = [mirror]
  let command = cloned(head_sha)
  if (setup !== null) {
    const [workspace, home] = [await folder('prepared', stack), await folder('prepared.home', stack)]
    const shown = { workspace, home, read_only: [mirror] }
    const layOut = async (...commands: string[]) => {
      await using inside = new AsyncDisposableStack()
      const sandbox = await open(deps.driver.start({ ...shown, limits: deps.sandbox_limits }), inside)
      for (const one of commands) await lay(sandbox, one)
      await sandbox.stop()
    }
    const files_of: FilesOf = (await isOfRunsAlone(deps.git, base.repository.id, base)) ? 'agent' : 'repository'
    await layOut(cloned(base.sha))
    await runSetup({ deps, claim, run, setup, files_of, secrets, shown, started, signal, purpose: 'checks' })
    await layOut(takeFilesAwayCommand(), cloned(head_sha))
    read_only = [mirror, { host: workspace, inside: PREPARED_INSIDE }, { host: home, inside: PREPARED_HOME_INSIDE }]
    command = copyPreparedCommand(PREPARED_INSIDE, PREPARED_HOME_INSIDE)
  }

  const prepared = stack.move()
  return {
    async within(use) {
      await using inside = new AsyncDisposableStack()
      const workspace = await folder('check', inside)
      const home = setup === null ? {} : { home: await folder('check.home', inside) }
      const egress: RunEgress = inside.use(await openEgress(deps, claim, run.repository_id, 'agent'))
      const environment = { ...secrets.environment, ...egress.environment }
      const spec = { workspace, ...home, read_only, environment, sockets: egress.sockets }
      const sandbox = await open(startRecorded(deps, claim, 'check', spec), inside)
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
