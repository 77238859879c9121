import { errorText } from '../../core/log.ts'
import { tools_without_effect } from '../../core/runs/file-tools.ts'
import { withProxyEnv } from '../../core/sandbox-environment.ts'
import { type Kept, objectCachePath, retainObjectCache } from '../../git/objects/object-cache.ts'
import { mirrorPath } from '../../git/process/git-host.ts'
import { hasCommit, isOfRunsAlone } from '../../git/read/revisions.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import { createShadow, removeWorkspace } from '../../sandbox/workspaces/workspaces.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { checkpointAt, reopenCheckpoints } from '../../store/workspaces/checkpoints.ts'
import { recordWorkspace } from '../../store/workspaces/workspaces.ts'
import type { Base } from '../base/base.ts'
import { MIRROR_INSIDE } from '../base/checkout.ts'
import { bringTip } from '../base/kept-objects.ts'
import { requireOwned } from '../claim/fencing.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { StartupTimer } from '../claim/startup-timer.ts'
import { openEgress } from '../sandbox/egress.ts'
import { startRecorded } from '../sandbox/recorded-sandbox.ts'
import { plantCanary, type RunSecrets, showGiven } from '../sandbox/run-secrets.ts'
import type { WorkerDeps } from '../settings.ts'
import { ageOf, type Environment } from '../setup/environments.ts'
import { type FilesOf, leftOutBySetup, type Setup, type SetupFailure, setUp } from '../setup/setup.ts'
import { takeEnvironment } from '../setup/take-environment.ts'
import { Checkpoints } from './checkpoints.ts'
import { Packer } from './packer.ts'
import { type Filling, fillWorkspace, reuseWorkspace, templateFor } from './populate-workspace.ts'
import { KEPT_INSIDE, type Restored } from './restore.ts'
import { startSnapshotSandbox } from './snapshot-sandbox.ts'
import { Snapshots } from './snapshots.ts'
import { openPlace } from './workspace-folders.ts'

/** A run's files as its owner has them: the sandbox that shows them, and what is kept of them. Disposing it ends both and leaves the files. */
export type Workspace = AsyncDisposable & {
  sandbox: Sandbox
  checkpoints: Checkpoints
  /** Says in the trace what was refused on the way out and is not said yet. */
  tellBlocked(): Promise<void>
  /** Says which sandbox is there besides, so that whoever goes on with the run can end it; null: none any more. */
  alongside(identity: string | null): Promise<void>
  /** How they came back, when somebody had worked on them before. */
  restored: Restored | null
  /** Setup commands that failed, where the repository says that its runs go on. */
  setup_failures: SetupFailure[]
}

export type Opening = {
  deps: WorkerDeps
  writer: RunWriter
  live: LiveChannel
  run: RunRow
  base: Base | null
  secrets: RunSecrets
  setup: Setup | null
  startup: StartupTimer
  signal: AbortSignal
}

/**
 * A sandbox with the run's workspace in it: the folder of the turn before where it is still there, otherwise the newest files that were
 * kept, otherwise a fresh clone of what the run last committed, or of its base. Says in the trace which. Throws StartError, SandboxError,
 * and soon after `signal` whatever comes of it, with no process left.
 */
export async function openWorkspace({ deps, writer, live, run, base, secrets, setup, startup, signal }: Opening): Promise<Workspace> {
  // A frozen owner on this machine may come back: its sandboxes must not. Elsewhere they end by themselves.
  if (run.sandbox !== null) await deps.driver.end(run.sandbox)
  const kept: Kept = { run_id: run.id, repository_id: base?.repository.id ?? null }
  await using stack = new AsyncDisposableStack()
  stack.defer(await retainObjectCache(deps.git, run.id, signal))
  await reopenCheckpoints(deps.db, run.organization_id, run.id, writer.epoch)
  const last = (await checkpointAt(deps.db, run.organization_id, run.id, run.total_logs, tools_without_effect)) ?? null
  const recordPlace = async (place: { workspace: string | null; sandbox: string | null }) => {
    requireOwned(await recordWorkspace(deps.db, run.organization_id, run.id, writer.epoch, { ...place, folder_id: deps.folder_id }))
  }
  const bounds = { max_bytes: deps.checkpoints.max_pack_bytes, fetch_ms: deps.git_limits.fetch_ms, signal }
  const tip = last === null ? null : await bringTip(deps, run.organization_id, kept, bounds)

  const by_agents = base !== null && (await isOfRunsAlone(deps.git, base.repository.id, base))
  const prepared: { environment: Environment | null } = { environment: null }
  // Files may as well be a copy of what was prepared for others, or of what another run has cloned.
  const copyOf = async () => {
    if (base === null) return null
    if (setup !== null && (await hasCommit(deps.git, base.repository.id, base.sha))) {
      const started = async (identities: (string | null)[]) =>
        recordPlace({ workspace: null, sandbox: identities.filter(identity => identity !== null).join('\n') || null })
      const preparing = { deps, writer, live, run, base, setup, secrets, started, signal }
      prepared.environment = await startup.during('setup_ms', () => deps.environments.provide(preparing, !by_agents))
      if (prepared.environment !== null) return prepared.environment.template
    }
    return last === null ? templateFor(deps, run, base, signal) : null
  }
  const { workspace, home, adopted, layer, template } = await startup.during('sandbox_ms', () =>
    openPlace(deps, writer, run, setup, copyOf),
  )
  const environment = template === prepared.environment?.template ? prepared.environment : null
  if (environment !== null)
    startup.usedEnvironment({ id: environment.row?.id ?? null, made: environment.made, age_seconds: ageOf(environment) })
  if (layer !== null) stack.use(layer)
  const within = layer === null ? {} : { within: layer }
  const shadow = await createShadow(deps.folders.workspaces, run.id, writer.epoch, deps.users.sandbox)
  // Not waited for: what stays is found by the sweep.
  stack.defer(() => void removeWorkspace(shadow, deps.users.sandbox).catch(() => {}))
  const mirror = base === null ? [] : [{ host: mirrorPath(deps.git, base.repository.id), inside: MIRROR_INSIDE }]
  const read_only = [...mirror, { host: objectCachePath(deps.git, run.id), inside: KEPT_INSIDE }]
  const { max_file_bytes, max_pack_bytes } = deps.checkpoints
  const egress = stack.use(await openEgress(deps, writer, live, base?.repository.id ?? null, 'agent'))
  const spec = {
    kept,
    workspace,
    ...within,
    shadow,
    base_sha: base?.sha ?? null,
    max_file_bytes,
    max_bytes: max_pack_bytes,
    cpus: deps.sandbox_limits.cpus,
  }
  const startShots = () => startSnapshotSandbox(deps.driver, deps.git, spec)
  let sandboxes: string | null = layer?.identity ?? null
  // A folder that is not filled yet is nobody's: whoever comes after us begins with another one.
  const record = (filled: boolean) => recordPlace({ workspace: filled ? workspace : null, sandbox: sandboxes })
  await record(adopted)
  await showGiven(writer, secrets)
  const shown = { workspace, ...within, read_only, ...(home && { home: home.path }) }
  const way_out = { environment: withProxyEnv(secrets.environment, egress.environment), sockets: egress.sockets }
  const startBoth = () => Promise.allSettled([startRecorded(deps, writer, 'agent', { ...shown, ...way_out }), startShots()])
  const [agent, shots] = await startup.during('sandbox_ms', startBoth)
  for (const started of [agent, shots]) if (started.status === 'fulfilled') stack.use(started.value)
  if (agent.status === 'rejected') throw agent.reason
  if (shots.status === 'rejected') throw shots.reason
  const sandbox = agent.value
  const running_ones = [layer?.identity ?? null, sandbox.identity, shots.value.identity]
  const recordSandboxes = (more: (string | null)[] = [], filled = adopted) => {
    sandboxes = [...running_ones, ...more].filter(identity => identity !== null).join('\n')
    return record(filled)
  }
  await recordSandboxes()
  let given_up = false
  const snapshots = new Snapshots(shots.value, startShots, error => {
    if (!given_up) deps.log('error', 'the files of a run could not be looked at', { error: errorText(error) })
  })
  // Who is to end waits for nothing that is under way in them: the first look at many files takes minutes.
  const giveUp = () => {
    given_up = true
    void Promise.all([sandbox.stop(), snapshots[Symbol.asyncDispose]()])
  }
  signal.addEventListener('abort', giveUp)
  stack.defer(() => signal.removeEventListener('abort', giveUp))
  if (signal.aborted) giveUp()
  await plantCanary(sandbox, secrets)

  let setup_failures: SetupFailure[] = []
  const left_before = home === null ? [] : await leftOutBySetup(deps, run)
  const runSetUp = async (setup: Setup, asked: FilesOf, state?: 'emptied') => {
    const files_of: FilesOf = by_agents ? 'agent' : asked
    const started = (identity: string | null) => recordSandboxes([identity])
    const to = { deps, writer, live, run, setup, files_of, secrets, known: left_before, shown, sandbox, started, signal }
    const taken = environment !== null && base !== null && state === undefined
    const { failures, left_out } = await startup.during('setup_ms', () => (taken ? takeEnvironment(to, environment, base.sha) : setUp(to)))
    setup_failures = failures
    return { seq: (await writer.append({})).total_logs, left_out }
  }
  const to_set_up = setup !== null && home !== null && !home.ready
  const filling: Filling = {
    ...{ deps, writer, run, base, kept, sandbox, snapshots, last, signal },
    copy_of: template === null ? null : { template, made_at_sha: environment?.made_at_sha ?? null, told: environment?.made ?? false },
    setUp: to_set_up ? (files_of, state) => runSetUp(setup, files_of, state) : null,
    left_out: home?.ready ? left_before : [],
  }
  const filled = await startup.during('clone_ms', () => (adopted ? reuseWorkspace(filling) : fillWorkspace(filling)))
  if (to_set_up) home.finish()
  if (!adopted) await record(true)
  const known = last === null ? [] : [last.tree, ...(last.head === null ? [] : [last.head])]
  const packer = new Packer(deps.git, kept, snapshots, deps.checkpoints.max_pack_bytes, base?.sha ?? null, tip, known)
  const checkpoints = stack.use(new Checkpoints(deps, writer, snapshots, packer, filled.stored))
  void filled.snapshot.then(snapshot => snapshot && checkpoints.opened(snapshot, filled.seq, filled.through_seq, filled.anew))
  signal.removeEventListener('abort', giveUp)
  signal.throwIfAborted()
  const running = stack.move()
  const { tellBlocked } = egress
  return {
    sandbox,
    checkpoints,
    tellBlocked,
    alongside: identity => recordSandboxes([identity], true),
    restored: filled.restored,
    setup_failures,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
