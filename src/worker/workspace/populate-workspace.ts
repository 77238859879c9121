import { treeOf } from '../../git/objects/object-cache.ts'
import { hasCommit } from '../../git/read/revisions.ts'
import type { PreparedFiles } from '../../git/workspace/checkpoint-commands.ts'
import { removeFilesCommand } from '../../git/workspace/workspace-commands.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { CheckpointRow } from '../../store/workspaces/checkpoints.ts'
import type { Base } from '../base/base.ts'
import { type CopyOf, clone, runInWorkspace, switchBranch } from '../base/checkout.ts'
import type { Templates } from '../base/templates.ts'
import type { WorkerServices } from '../services.ts'
import type { FilesOf } from '../setup/run-setup.ts'
import { leaveOut } from '../setup/setup.ts'
import type { FirstSnapshot, StoredCheckpoint } from './checkpoints.ts'
import {
  type Last,
  listLostActions,
  type RestoredWorkspace,
  type RestoreInput,
  recordRestored,
  restore,
} from './restore.ts'

/** `last`: the newest checkpoint of the run, null where it has none. */
export type FillInput = RestoreInput & {
  last: Last | null
  copy_of: CopyOf | null
  /**
   * Runs the setup commands on the files, or takes over what they have prepared, unless that was `emptied`;
   * null: there is nothing to run.
   */
  setUp: ((files_of: FilesOf, state?: 'emptied') => Promise<SetUpFiles>) | null
  /** Paths of an earlier setup that are not part of the run's files. */
  left_out: string[]
}

type SetUpFiles = { seq: number; left_out: string[] }

/** A workspace that is ready: its first snapshot, and the checkpoint that is stored already. */
export type FilledWorkspace = FirstSnapshot & {
  stored: StoredCheckpoint | null
  restored: RestoredWorkspace | null
}

/** Fills an empty workspace with the run's newest checkpoint, or with a clone. Throws StartError. */
export async function fillWorkspace(to: FillInput): Promise<FilledWorkspace> {
  const { base, last } = to
  if (last === null) return cloneWorkspace(to)
  const ahead = base === null ? null : await setUpAhead(to, base)
  return (await restoreWorkspace(to, last, ahead?.left_out ?? null)) ?? cloneWorkspace(to)
}

/** Null: no checkpoint can be used, and the workspace is empty. */
async function restoreWorkspace(
  to: FillInput,
  last: Last,
  set_up_ahead: string[] | null,
): Promise<FilledWorkspace | null> {
  const laid = await restore(to, last, set_up_ahead)
  if (laid === null) return null
  const { restored, row } = laid
  const switched = await switchToNewBranch(to)
  if (laid.beside) await leaveOut(to.deps, to.sandbox, laid.beside, to.signal)
  const set_up = laid.beside ? null : await to.setUp?.('agent', 'emptied')
  const { up_to_date } = restored
  const common = { stored: up_to_date ? storedOf(row) : null, gap: !up_to_date, restored }
  const from = (seq: number, snapshot: FilledWorkspace['snapshot']) => ({
    ...common,
    snapshot,
    seq,
    through_seq: seq,
  })
  if (set_up)
    return from(set_up.seq, to.snapshots.prepare({ from: 'tree', tree: row.tree, without: set_up.left_out }))
  return switched === null
    ? from(laid.seq, Promise.resolve(laid.snapshot))
    : from(switched, to.snapshots.take(true))
}

async function cloneWorkspace(to: FillInput): Promise<FilledWorkspace> {
  const { writer, run, base, last, snapshots } = to
  const started = performance.now()
  const sha = base === null ? null : await startOf(to.deps, run, base)
  const cloned = sha === null || base === null ? run.total_logs : await clone(to, base, sha)
  const set_up = await to.setUp?.(sha === base?.sha ? 'repository' : 'agent')
  // A fresh clone need not be searched for changes.
  const how: PreparedFiles =
    sha === null
      ? { from: 'empty' }
      : set_up
        ? { from: 'tree', tree: sha, without: set_up.left_out }
        : { from: 'clone', sha, tree: await treeOf(to.deps.git, to.kept, sha) }
  const snapshot = snapshots.prepare(how)
  if (run.steps === 0 && last === null)
    return { snapshot, stored: null, seq: 0, through_seq: set_up?.seq ?? cloned, gap: false, restored: null }
  const first = await snapshot
  to.signal.throwIfAborted()
  const state = { commit: sha, tree: first?.tree ?? null, matches: false, up_to_date: false }
  const restored: RestoredWorkspace = {
    how: 'fresh',
    seq: null,
    ...state,
    lost_actions: await listLostActions(to, 0),
  }
  const seq = await recordRestored(writer, restored, performance.now() - started)
  return { snapshot, stored: null, seq, through_seq: seq, gap: true, restored }
}

/**
 * Runs the setup commands on the repository's own files before an agent's files are restored: on the agent's
 * they could do what it likes, and they have secrets that it has not. What they have created stays; the
 * repository's files are removed. Null: nothing was run.
 */
async function setUpAhead(to: FillInput, base: Base): Promise<SetUpFiles | null> {
  const { deps, sandbox, signal } = to
  if (to.setUp === null || !(await hasCommit(deps.git, base.repository.id, base.sha))) return null
  await clone(to, base, base.sha)
  const set_up = await to.setUp('repository')
  await runInWorkspace(deps, sandbox, removeFilesCommand(), signal)
  return set_up
}

/** Uses the folder of the previous turn, with whatever was changed in it since the last checkpoint. */
export async function reuseWorkspace(to: FillInput): Promise<FilledWorkspace> {
  const { writer, run, base, snapshots, last } = to
  const started = performance.now()
  await switchToNewBranch(to)
  const set_up = await to.setUp?.('agent')
  const without = set_up?.left_out ?? to.left_out
  const known = last?.tree ?? base?.sha ?? null
  const snapshot = snapshots.prepare(
    known === null ? { from: 'empty', without } : { from: 'tree', tree: known, without },
  )
  const stored = last?.covers ? storedOf(last) : null
  if (run.recovering_since === null) {
    const { total_logs } = await writer.append({})
    return {
      snapshot,
      stored,
      seq: total_logs,
      through_seq: total_logs,
      gap: stored === null,
      restored: null,
    }
  }
  const first = await snapshot
  to.signal.throwIfAborted()
  const matches = first !== null && first.tree === last?.tree
  const state = {
    commit: first?.head ?? null,
    tree: first?.tree ?? null,
    matches,
    up_to_date: true,
    lost_actions: [],
  }
  const restored: RestoredWorkspace = { how: 'adopted', seq: last?.seq ?? null, ...state }
  const seq = await recordRestored(writer, restored, performance.now() - started)
  return { snapshot, stored, seq, through_seq: seq, gap: stored === null, restored }
}

/**
 * Switches to the new branch if the pull request of the previous one was closed or merged. Returns the `seq`
 * of the ACTION, or null.
 */
async function switchToNewBranch(to: FillInput): Promise<number | null> {
  const { run, base } = to
  if (base === null || base.renewed === null || run.head_sha === null) return null
  return switchBranch(to, base, { from_sha: run.head_sha, to_sha: base.renewed.start_sha })
}

/** Returns the template of the commit that the run starts with; null: there is none. */
export async function templateFor(
  deps: Pick<WorkerServices, 'git'> & { templates: Pick<Templates, 'provide'> },
  run: RunRow,
  base: Base,
  signal: AbortSignal,
): Promise<string | null> {
  return deps.templates.provide(base.repository.id, await startOf(deps, run, base), signal)
}

/** Returns the run's last commit if the mirror of this machine has it, otherwise the base. */
async function startOf({ git }: Pick<WorkerServices, 'git'>, run: RunRow, base: Base): Promise<string> {
  const sha = base.renewed?.start_sha ?? run.head_sha ?? base.sha
  return sha === base.sha || (await hasCommit(git, base.repository.id, sha)) ? sha : base.sha
}

const storedOf = ({ tree, head, branch, left_out, seq }: CheckpointRow): StoredCheckpoint => ({
  seq,
  snapshot: { tree, head, branch, left_out: left_out ?? [] },
})
