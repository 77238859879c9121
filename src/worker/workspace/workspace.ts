import type { Sandbox } from '../../sandbox/port.ts'
import type { Identities } from '../claim/record-sandboxes.ts'
import type { FilesOf, Setup, SetupFailure } from '../setup/run-setup.ts'
import { leftOutBySetup, setUp } from '../setup/setup.ts'
import { takeEnvironment } from '../setup/take-environment.ts'
import { Checkpoints } from './checkpoints.ts'
import { openFolders, type PreparedFolders } from './open-folders.ts'
import { type History, type OpenInput, readHistory } from './opening.ts'
import { Packer } from './packer.ts'
import { type FilledWorkspace, type FillInput, fillWorkspace, reuseWorkspace } from './populate-workspace.ts'
import type { RestoredWorkspace } from './restore.ts'
import { type Sandboxes, startSandboxes } from './start-sandboxes.ts'

/**
 * The open files of a run: the sandbox that shows them, and their checkpoints. Disposing ends both and leaves
 * the files.
 */
export type Workspace = AsyncDisposable & {
  sandbox: Sandbox
  checkpoints: Checkpoints
  /** Writes refused egress that is not in the trace yet. */
  reportBlocked(): Promise<void>
  /** Records other sandboxes that are running, so that the next worker can end them. */
  recordBesides(identities: Identities): Promise<void>
  /** How the files came back; null for the first workspace of a run. */
  restored: RestoredWorkspace | null
  /** The home folder is that of the previous turn, with the sessions of an agent of another vendor. */
  keeps_home: boolean
  /** Setup commands that failed, if the repository's runs continue nevertheless. */
  setup_failures: SetupFailure[]
}

/**
 * Opens the run's workspace in a sandbox: the folder of the previous turn if it is available, otherwise the
 * newest checkpoint, otherwise a clone of the run's last commit or of its base; the trace shows which. Throws
 * StartError, SandboxError, and rejects soon after `signal`, with no process left.
 */
export async function openWorkspace(opening: OpenInput): Promise<Workspace> {
  const { deps, run, startup, signal } = opening
  // A frozen worker on this machine may continue: its sandboxes must not. On other machines they end by
  // themselves.
  if (run.sandbox !== null) await deps.driver.end(run.sandbox)
  await using stack = new AsyncDisposableStack()
  const history = await readHistory(opening, stack)
  const folders = await openFolders(opening, history)
  if (folders.layer !== null) stack.use(folders.layer)
  const sandboxes = await startSandboxes(opening, history, folders, stack)
  const { filling, failures } = await prepareFilling(opening, history, folders, sandboxes)
  const filled = await startup.during('clone_ms', () =>
    folders.adopted ? reuseWorkspace(filling) : fillWorkspace(filling),
  )
  if (filling.setUp !== null) folders.home?.finish()
  if (!folders.adopted) await sandboxes.record(true)
  const checkpoints = stack.use(keepCheckpoints(opening, history, sandboxes, filled))
  sandboxes.opened()
  signal.throwIfAborted()
  const open = stack.move()
  return {
    sandbox: sandboxes.sandbox,
    checkpoints,
    reportBlocked: sandboxes.reportBlocked,
    recordBesides: identities => sandboxes.record(true, identities),
    restored: filled.restored,
    keeps_home: folders.home?.kept === true,
    setup_failures: failures,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

/** `failures`: filled in while the setup commands run. */
async function prepareFilling(
  opening: OpenInput,
  history: History,
  folders: PreparedFolders,
  sandboxes: Sandboxes,
) {
  const { deps, writer, run, base, setup, signal } = opening
  const { home, template, environment } = folders
  const left_before = home === null ? [] : await leftOutBySetup(deps, run)
  const failures: SetupFailure[] = []
  const runSetup = async (setup: Setup, files_of: FilesOf, state?: 'emptied') => {
    const set_up = await setUpFiles(
      { ...opening, setup },
      { history, folders, sandboxes, left_before, files_of, state },
    )
    failures.splice(0, failures.length, ...set_up.failures)
    return { seq: (await writer.append({})).total_logs, left_out: set_up.left_out }
  }
  const needs_setup = setup !== null && home !== null && !home.ready
  const { sandbox, snapshots } = sandboxes
  const filling: FillInput = {
    deps,
    writer,
    run,
    base,
    kept: history.kept,
    sandbox,
    snapshots,
    last: history.last,
    signal,
    copy_of:
      template === null
        ? null
        : { template, made_at_sha: environment?.made_at_sha ?? null, recorded: environment?.made ?? false },
    setUp: needs_setup ? (files_of, state) => runSetup(setup, files_of, state) : null,
    left_out: home?.ready ? left_before : [],
  }
  return { filling, failures }
}

type SetUpInput = {
  history: History
  folders: PreparedFolders
  sandboxes: Sandboxes
  left_before: string[]
  files_of: FilesOf
  /** The files that a setup had prepared were removed. */
  state: 'emptied' | undefined
}

/** Runs the setup commands, or takes over the environment that the workspace is a copy of. */
function setUpFiles(
  opening: OpenInput & { setup: Setup },
  { history, folders, sandboxes, left_before, files_of, state }: SetUpInput,
) {
  const { deps, writer, live, run, base, setup, secrets, startup, signal } = opening
  const to = {
    deps,
    writer,
    live,
    run,
    setup,
    secrets,
    signal,
    known: left_before,
    files_of: history.by_agents ? ('agent' as const) : files_of,
    shown: sandboxes.shown,
    sandbox: sandboxes.sandbox,
    started: (identities: Identities) => sandboxes.record(folders.adopted, identities),
  }
  const { environment } = folders
  const taken = environment !== null && base !== null && state === undefined
  return startup.during('setup_ms', () => (taken ? takeEnvironment(to, environment, base.sha) : setUp(to)))
}

function keepCheckpoints(
  { deps, writer, base }: OpenInput,
  history: History,
  { snapshots, written }: Sandboxes,
  filled: FilledWorkspace,
): Checkpoints {
  const { kept, last, tip } = history
  const known = last === null ? [] : [last.tree, ...(last.head === null ? [] : [last.head])]
  const packer = new Packer({
    git: deps.git,
    kept,
    written,
    snapshots,
    max_bytes: deps.checkpoints.max_pack_bytes,
    base_sha: base?.sha ?? null,
    tip,
    known,
  })
  const checkpoints = new Checkpoints(deps, writer, snapshots, packer, filled.stored)
  checkpoints.opened(filled)
  return checkpoints
}
