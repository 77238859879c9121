import { onAbort } from '../../core/abort.ts'
import { errorText } from '../../core/log.ts'
import { withProxyEnv } from '../../core/sandbox-environment.ts'
import { objectCachePath } from '../../git/objects/object-cache.ts'
import { mirrorPath } from '../../git/process/git-host.ts'
import { WrittenObjects } from '../../git/workspace/written-objects.ts'
import type { Sandbox, SandboxSpec } from '../../sandbox/port.ts'
import { createShadow, removeWorkspace } from '../../sandbox/workspaces/workspaces.ts'
import { errorEntry } from '../../trace/entry.ts'
import { MIRROR_INSIDE } from '../base/checkout.ts'
import { type Identities, recordSandboxes } from '../claim/record-sandboxes.ts'
import { openEgress } from '../sandbox/egress-of-run.ts'
import { startRecorded } from '../sandbox/recorded-sandbox.ts'
import { plantCanary, showSecretNames } from '../sandbox/run-secrets.ts'
import { FilesState } from './files-state.ts'
import type { PreparedFolders } from './open-folders.ts'
import type { History, OpenInput } from './opening.ts'
import { KEPT_INSIDE } from './restore.ts'
import { startSnapshotSandbox } from './snapshot-sandbox.ts'
import type { Difference } from './snapshot-taker.ts'
import { Snapshots } from './snapshots.ts'

type ShownFiles = Pick<SandboxSpec, 'workspace' | 'home' | 'within' | 'read_only'>

/** The sandboxes that show a run's files. */
export type Sandboxes = {
  sandbox: Sandbox
  snapshots: Snapshots
  /** The objects that are written for snapshots. */
  written: WrittenObjects
  /** What the agent's sandbox shows. */
  shown: ShownFiles
  reportBlocked(): Promise<void>
  /**
   * Records the running sandboxes, and the folder once it is filled: before that the next worker starts with
   * another one.
   */
  record(filled: boolean, more?: Identities): Promise<void>
  /** From now on an abort does not stop the sandboxes: the turn does. */
  opened(): void
}

/**
 * Starts the agent's sandbox, and beside it the one for snapshots, which the agent cannot reach. `stack` ends
 * them.
 */
export async function startSandboxes(
  opening: OpenInput,
  history: History,
  folders: PreparedFolders,
  stack: AsyncDisposableStack,
): Promise<Sandboxes> {
  const { deps, writer, live, base, secrets, startup, signal } = opening
  const { adopted, layer } = folders
  const written = new WrittenObjects(deps.git, history.kept)
  const startShots = await snapshotStarter(opening, history, { folders, written }, stack)
  const of = {
    repository_id: base?.repository.id ?? null,
    purpose: 'agent',
    gateway: opening.program?.gateway ?? null,
  } as const
  const egress = stack.use(await openEgress(deps, writer, live, of))
  const identities: (string | null)[] = [layer?.identity ?? null]
  const record = (filled: boolean, more: Identities = []) =>
    recordSandboxes(deps, writer, filled ? folders.workspace : null, [...identities, ...more])
  await record(adopted)
  await showSecretNames(writer, secrets)
  const shown = shownOf(opening, folders)
  const { program } = opening
  const environment = { ...withProxyEnv(secrets.environment, egress.environment), ...program?.environment }
  const way_out = { environment, sockets: [...egress.sockets, ...(program?.sockets ?? [])] }
  const startBoth = () =>
    Promise.allSettled([startRecorded(deps, writer, 'agent', { ...shown, ...way_out }), startShots()])
  const [agent, shots] = await startup.during('sandbox_ms', startBoth)
  for (const started of [agent, shots]) if (started.status === 'fulfilled') stack.use(started.value)
  if (agent.status === 'rejected') throw agent.reason
  if (shots.status === 'rejected') throw shots.reason
  const sandbox = agent.value
  identities.push(sandbox.identity, shots.value.identity)
  await record(adopted)
  let stopped = false
  const reportSnapshot = (error: unknown) => {
    if (!stopped) deps.log('error', 'a snapshot of the files of a run failed', { error: errorText(error) })
  }
  const files = new FilesState(
    async () => (await deps.driver.filesState?.(folders.workspace, layer !== null)) ?? null,
  )
  const difference = (found: Difference) => {
    deps.log('error', 'a snapshot from the changed paths differs from the files', { ...found })
    deps.telemetry.checkpointed({ code: 'differs' })
    writer.append({ entries: [differenceEntry(found)] }).catch(() => {})
  }
  const snapshots = new Snapshots(shots.value, startShots, { trouble: reportSnapshot, difference }, files)
  // A run that must end does not wait for commands in progress: the first snapshot of many files takes
  // minutes.
  const abort_listener = stack.use(
    onAbort(signal, () => {
      stopped = true
      void Promise.all([sandbox.stop(), snapshots[Symbol.asyncDispose]()])
    }),
  )
  await plantCanary(sandbox, secrets)
  return {
    sandbox,
    snapshots,
    written,
    shown,
    reportBlocked: egress.reportBlocked,
    record,
    opened: () => abort_listener[Symbol.dispose](),
  }
}

const differenceEntry = ({ from_changes, from_git }: Difference) =>
  errorEntry({
    code: 'checkpoint_differs',
    message: `The last checkpoint of this turn has the files as git finds them (tree ${from_git}). Those before it were taken from the changed paths, and the files were expected to be ${from_changes}: an earlier checkpoint of this turn may lack a change.`,
    retryable: false,
    phase: 'checkpoint',
  })

const withinOf = ({ layer }: PreparedFolders) => (layer === null ? {} : { within: layer })

function shownOf({ deps, run, base, program }: OpenInput, folders: PreparedFolders): ShownFiles {
  const { workspace, home } = folders
  const mirror =
    base === null ? [] : [{ host: mirrorPath(deps.git, base.repository.id), inside: MIRROR_INSIDE }]
  const read_only = [
    ...mirror,
    { host: objectCachePath(deps.git, run.id), inside: KEPT_INSIDE },
    ...(program?.read_only ?? []),
  ]
  return { workspace, ...withinOf(folders), read_only, ...(home && { home: home.path }) }
}

async function snapshotStarter(
  { deps, writer, run, base }: OpenInput,
  { kept, last, tip }: History,
  { folders, written }: { folders: PreparedFolders; written: WrittenObjects },
  stack: AsyncDisposableStack,
) {
  const shadow = await createShadow(deps.folders.workspaces, run.id, writer.epoch, deps.users.sandbox)
  // Not awaited: the sweep removes what is left.
  stack.defer(() => void removeWorkspace(shadow, deps.users.sandbox).catch(() => {}))
  const { max_file_bytes, max_pack_bytes } = deps.checkpoints
  const bounds = {
    base_sha: base?.sha ?? null,
    max_file_bytes,
    max_bytes: max_pack_bytes,
    cpus: deps.sandbox_limits.cpus,
  }
  const spec = {
    kept,
    borrows_kept: last !== null || tip !== null,
    written,
    workspace: folders.workspace,
    ...withinOf(folders),
    shadow,
    ...bounds,
  }
  let started = false
  return async () => {
    // What a lost sandbox had of the objects is in the object cache.
    if (started) await written.toGit()
    const borrows_kept = spec.borrows_kept || started
    started = true
    return startSnapshotSandbox(deps.driver, deps.git, { ...spec, borrows_kept })
  }
}
