import { onAbort } from '../../core/abort.ts'
import { UNATTENDED, withProxyEnv } from '../../core/sandbox-environment.ts'
import { mirrorPath } from '../../git/process/git-host.ts'
import { isOfRunsAlone } from '../../git/read/revisions.ts'
import { exactlyBesideCommand, exactlyOnEnvironmentCommand } from '../../git/workspace/template-commands.ts'
import { cloneCommand, copyPreparedCommand } from '../../git/workspace/workspace-commands.ts'
import type { Sandbox, SandboxSpec } from '../../sandbox/port.ts'
import { createCheckFolder, removeWorkspace } from '../../sandbox/workspaces/workspaces.ts'
import type { Base } from '../base/base.ts'
import { MIRROR_INSIDE, runOrFail, workspaceRepository } from '../base/checkout.ts'
import { StartError } from '../base/start-error.ts'
import type { Templates } from '../base/templates.ts'
import { openEgress } from '../sandbox/egress-of-run.ts'
import { startRecorded } from '../sandbox/recorded-sandbox.ts'
import type { WorkerServices } from '../services.ts'
import type { Environment, Environments } from '../setup/environments.ts'
import { type FilesOf, type RunSetupInput, runSetup, type Setup } from '../setup/run-setup.ts'

/**
 * The commit whose checks run, and with what. `purpose`: absent for checks; `setupEnded` is called after each
 * setup command.
 */
export type CheckSandboxesInput = Pick<
  RunSetupInput,
  'deps' | 'writer' | 'live' | 'run' | 'secrets' | 'started' | 'signal' | 'purpose'
> & {
  deps: Pick<WorkerServices, 'folders'> & {
    templates: Pick<Templates, 'open'>
    environments: Pick<Environments, 'provide'>
  }
  base: Base
  head_sha: string
  setup: Setup | null
  setupEnded?: RunSetupInput['ended']
}

/** Clean sandboxes with the files of one commit. Disposing removes what was prepared for them. */
export type CheckSandboxes = AsyncDisposable & {
  /**
   * Runs `use` in a new sandbox and removes it afterwards. Throws StartError if the files cannot be prepared.
   */
  inClean<T>(use: (sandbox: Sandbox) => Promise<T>): Promise<T>
}

/** `command` creates the files of the commit; with an `environment` they are a layer on it. */
type PreparedCheck = {
  read_only: NonNullable<SandboxSpec['read_only']>
  command: string
  environment: Environment | null
}

const PREPARED_INSIDE = '/prepared'
const PREPARED_HOME_INSIDE = '/prepared-home'

/**
 * Opens clean sandboxes for checks. If the run's base has an environment, each sandbox is a layer on it with
 * the files of the commit. Otherwise, if the repository has setup commands, they run once on the repository's
 * own files, with all secrets; then the files of the commit replace those, and each sandbox gets a copy.
 * Without setup commands each sandbox is a fresh clone.
 */
export async function openCheckSandboxes(input: CheckSandboxesInput): Promise<CheckSandboxes> {
  await using stack = new AsyncDisposableStack()
  const prepared = await prepareFiles(input, stack)
  const open = stack.move()
  return {
    inClean: use => inCleanSandbox(input, prepared, use),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

async function prepareFiles(input: CheckSandboxesInput, stack: AsyncDisposableStack): Promise<PreparedCheck> {
  const { deps, base, head_sha, setup, purpose = 'checks' } = input
  const read_only = [mirrorOf(input)]
  if (setup === null) return { read_only, command: cloneOf(input, head_sha), environment: null }
  const files_of: FilesOf = (await isOfRunsAlone(deps.git, base.repository.id, base)) ? 'agent' : 'repository'
  // A setup that must be verified always runs.
  const environment = purpose === 'checks' ? await environmentFor(input, setup, files_of) : null
  if (environment === null) return { ...(await setUpOnce({ ...input, setup, files_of }, stack)), environment }
  const { made_at_sha } = environment
  const repository = { ...workspaceRepository(deps, base, head_sha), base_sha: head_sha }
  return { read_only, command: exactlyOnEnvironmentCommand({ ...repository, made_at_sha }), environment }
}

const mirrorOf = ({ deps, base }: CheckSandboxesInput) => ({
  host: mirrorPath(deps.git, base.repository.id),
  inside: MIRROR_INSIDE,
})

const cloneOf = ({ deps, base }: CheckSandboxesInput, sha: string) =>
  cloneCommand({ ...workspaceRepository(deps, base, sha), base_sha: sha })

/** Null: there is none, or it needs maintenance commands, after which it would not be clean. */
async function environmentFor(
  input: CheckSandboxesInput,
  setup: Setup,
  files_of: FilesOf,
): Promise<Environment | null> {
  const { base } = input
  const found = await input.deps.environments.provide(
    { ...input, setup, purpose: 'checks' },
    files_of === 'repository',
  )
  return found !== null && (found.made_at_sha === base.sha || setup.maintenance.length === 0) ? found : null
}

/** Runs the setup commands in folders that each sandbox copies. */
async function setUpOnce(
  input: CheckSandboxesInput & { setup: Setup; files_of: FilesOf },
  stack: AsyncDisposableStack,
): Promise<Pick<PreparedCheck, 'read_only' | 'command'>> {
  const { deps, base, head_sha, purpose = 'checks', setupEnded: ended } = input
  const mirror = mirrorOf(input)
  const [workspace, home] = [
    await createFolder(input, 'prepared', stack),
    await createFolder(input, 'prepared.home', stack),
  ]
  const shown = { workspace, home, read_only: [mirror] }
  const runInFolders = async (command: string) => {
    await using sandbox = await started(input, deps.driver.start({ ...shown, limits: deps.sandbox_limits }))
    await runOrFail(input, sandbox, command)
    await sandbox.stop()
  }
  await runInFolders(cloneOf(input, base.sha))
  await runSetup({ ...input, shown, purpose, ...(ended && { ended }) })
  const repository = { ...workspaceRepository(deps, base, head_sha), base_sha: head_sha }
  await runInFolders(exactlyBesideCommand({ ...repository, made_at_sha: base.sha }))
  const read_only = [
    mirror,
    { host: workspace, inside: PREPARED_INSIDE },
    { host: home, inside: PREPARED_HOME_INSIDE },
  ]
  return { read_only, command: copyPreparedCommand(PREPARED_INSIDE, PREPARED_HOME_INSIDE) }
}

async function inCleanSandbox<T>(
  input: CheckSandboxesInput,
  prepared: PreparedCheck,
  use: (sandbox: Sandbox) => Promise<T>,
): Promise<T> {
  const { deps, writer, live, run, setup, secrets, signal } = input
  const { environment, read_only, command } = prepared
  await using stack = new AsyncDisposableStack()
  const workspace = await createFolder(input, 'check', stack, environment?.template)
  const home = setup === null ? {} : { home: await createFolder(input, 'check.home', stack) }
  const layer = environment && (await deps.templates.open(workspace, home.home ?? null, environment.template))
  if (environment !== null && layer === null)
    throw new StartError('setup_failed', 'environment_gone', 'The prepared environment is gone.')
  const within = layer === null ? {} : { within: stack.use(layer) }
  const egress = stack.use(
    await openEgress(deps, writer, live, {
      repository_id: run.repository_id,
      purpose: 'agent',
      gateway: null,
    }),
  )
  const variables = { ...UNATTENDED, ...withProxyEnv(secrets.environment, egress.environment) }
  const spec = { workspace, ...within, ...home, read_only, environment: variables, sockets: egress.sockets }
  const sandbox = stack.use(await started(input, startRecorded(deps, writer, 'check', spec)))
  // A run that must end does not wait for commands in progress.
  stack.use(onAbort(signal, () => void sandbox.stop()))
  try {
    await runOrFail(input, sandbox, command)
    return await use(sandbox)
  } finally {
    await sandbox.stop()
    await input.started([])
    await egress.reportBlocked()
  }
}

async function createFolder(
  { deps, writer, run }: CheckSandboxesInput,
  name: string,
  stack: AsyncDisposableStack,
  template: string | null = null,
): Promise<string> {
  const path = await createCheckFolder(
    deps.folders.workspaces,
    { run_id: run.id, epoch: writer.epoch, name, template },
    deps.users.sandbox,
  )
  stack.defer(() => removeWorkspace(path, deps.users.sandbox))
  return path
}

/** Records a sandbox that has started. */
async function started(input: CheckSandboxesInput, starting: Promise<Sandbox>): Promise<Sandbox> {
  const sandbox = await starting
  try {
    await input.started([sandbox.identity])
    return sandbox
  } catch (error) {
    await sandbox.stop()
    throw error
  }
}
