import { hasCommit } from '../../git/read/revisions.ts'
import type { Prepared, Snapshot } from '../../git/workspace/checkpoint-commands.ts'
import { removeFilesCommand } from '../../git/workspace/workspace-commands.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { CheckpointRow } from '../../store/workspaces/checkpoints.ts'
import type { Base } from '../base/base.ts'
import { type CopyOf, clone, runInWorkspace, switchBranch } from '../base/checkout.ts'
import type { WorkerDeps } from '../settings.ts'
import { type FilesOf, leaveOut } from '../setup/setup.ts'
import type { Found } from './checkpoints.ts'
import { type Last, type Restored, type Restoring, recordRestored, restore } from './restore.ts'

/** `last`: the newest checkpoint of the run, null where it has none. */
export type Filling = Restoring & {
  last: Last | null
  copy_of: CopyOf | null
  /** Runs the setup commands when files are there, or takes over what they have prepared, unless that was `emptied`; null: there is nothing to run. */
  setUp: ((files_of: FilesOf, state?: 'emptied') => Promise<SetUpFiles>) | null
  /** What they have left before that is no part of the run's files. */
  left_out: string[]
}

type SetUpFiles = { seq: number; left_out: string[] }

/** A workspace that is ready: its first snapshot, which holds from entry `seq` on, and what of it is stored already. */
export type Filled = {
  snapshot: Promise<Snapshot | null>
  stored: Found | null
  seq: number
  through_seq: number
  /** Nothing that was stored is known to have held until now. */
  anew: boolean
  restored: Restored | null
}

/** An empty workspace becomes the one of the run: what was kept of it, or a clone. Throws StartError. */
export async function fillWorkspace(to: Filling): Promise<Filled> {
  const { writer, run, base, snapshots, last } = to
  const started = performance.now()
  const ahead = last === null || base === null ? null : await setUpAhead(to, base)
  const laid = last === null ? null : await restore(to, last, ahead?.left_out ?? null)
  if (laid !== null) {
    const { restored, snapshot } = laid
    const switched = await switchOver(to)
    if (laid.beside) await leaveOut(to.deps, to.sandbox, laid.beside, to.signal)
    const set_up = laid.beside ? null : await to.setUp?.('agent', 'emptied')
    const [seq, found] = set_up
      ? [set_up.seq, snapshots.prepare({ from: 'tree', tree: laid.row.tree, without: set_up.left_out })]
      : switched === null
        ? [laid.seq, Promise.resolve(snapshot)]
        : [switched, snapshots.take(true)]
    const { up_to_date } = restored
    return { snapshot: found, stored: up_to_date ? foundOf(laid.row) : null, seq, through_seq: seq, anew: !up_to_date, restored }
  }
  const sha = base === null ? null : await startOf(to, base)
  const cloned = sha === null || base === null ? run.total_logs : await clone(to, base, sha)
  const set_up = await to.setUp?.(sha === base?.sha ? 'repository' : 'agent')
  // What is as it was cloned need not be looked at.
  const how: Prepared =
    sha === null ? { from: 'empty' } : set_up ? { from: 'tree', tree: sha, without: set_up.left_out } : { from: 'clone', sha }
  const snapshot = snapshots.prepare(how)
  if (run.steps === 0 && last === null)
    return { snapshot, stored: null, seq: 0, through_seq: set_up?.seq ?? cloned, anew: false, restored: null }
  const found = await snapshot
  to.signal.throwIfAborted()
  const restored: Restored = { how: 'fresh', seq: null, commit: sha, tree: found?.tree ?? null, matches: false, up_to_date: false }
  const seq = await recordRestored(writer, restored, performance.now() - started)
  return { snapshot, stored: null, seq, through_seq: seq, anew: true, restored }
}

/**
 * Before an agent's files come back the commands run on the repository's own: with those of the agent it could have them do what it likes, and
 * they know more than it does. What they have made stays, the repository's own files go. Null: nothing was run.
 */
async function setUpAhead(to: Filling, base: Base): Promise<SetUpFiles | null> {
  const { deps, sandbox, signal } = to
  if (to.setUp === null || !(await hasCommit(deps.git, base.repository.id, base.sha))) return null
  await clone(to, base, base.sha)
  const set_up = await to.setUp('repository')
  await runInWorkspace(deps, sandbox, removeFilesCommand(), signal)
  return set_up
}

/** The folder is still there, with whatever was done to it since the last checkpoint. */
export async function reuseWorkspace(to: Filling): Promise<Filled> {
  const { writer, run, base, snapshots, last } = to
  const started = performance.now()
  await switchOver(to)
  const set_up = await to.setUp?.('agent')
  const without = set_up?.left_out ?? to.left_out
  const known = last?.tree ?? base?.sha ?? null
  const snapshot = snapshots.prepare(known === null ? { from: 'empty', without } : { from: 'tree', tree: known, without })
  const stored = last?.covers ? foundOf(last) : null
  if (run.recovering_since === null) {
    const { total_logs } = await writer.append({})
    return { snapshot, stored, seq: total_logs, through_seq: total_logs, anew: stored === null, restored: null }
  }
  const found = await snapshot
  to.signal.throwIfAborted()
  const matches = found !== null && found.tree === last?.tree
  const restored: Restored = {
    how: 'adopted',
    seq: last?.seq ?? null,
    commit: found?.head ?? null,
    tree: found?.tree ?? null,
    matches,
    up_to_date: true,
  }
  const seq = await recordRestored(writer, restored, performance.now() - started)
  return { snapshot, stored, seq, through_seq: seq, anew: stored === null, restored }
}

/** Onto a new branch, where the pull request of the one before was closed or merged; answers how long the trace is then. */
async function switchOver({ deps, writer, run, base, sandbox, signal }: Filling): Promise<number | null> {
  if (base === null || base.renewed === null || run.head_sha === null) return null
  return switchBranch(deps, writer, sandbox, base, run.head_sha, base.renewed.start_sha, signal)
}

/** The template of the commit that the run is to begin with; null: there is none to be had. */
export async function templateFor(deps: WorkerDeps, run: RunRow, base: Base, signal: AbortSignal): Promise<string | null> {
  const sha = await startOf({ deps, run }, base)
  return sha === null ? null : deps.templates.provide(base.repository.id, sha, signal)
}

/** What the run last committed, where this machine's mirror has it. */
async function startOf({ deps, run }: Pick<Filling, 'deps' | 'run'>, base: Base): Promise<string | null> {
  const sha = base.renewed?.start_sha ?? run.head_sha ?? base.sha
  return sha === base.sha || (await hasCommit(deps.git, base.repository.id, sha)) ? sha : base.sha
}

function foundOf({ tree, head, branch, left_out, seq, through_seq }: CheckpointRow): Found {
  const snapshot = { tree, head, branch, left_out: left_out === null ? [] : (JSON.parse(left_out) as Snapshot['left_out']) }
  return { snapshot, found_at: performance.now(), seq, through_seq }
}
