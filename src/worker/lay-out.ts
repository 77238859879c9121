import type { Prepared, Snapshot } from '../git/checkpoint-commands.ts'
import { hasCommit } from '../git/revisions.ts'
import type { CheckpointRow } from '../store/checkpoints.ts'
import { clone, switchBranch } from './checkout.ts'
import type { Found } from './checkpoints.ts'
import { type Last, type Restored, type Restoring, recordRestored, restore } from './restore.ts'

/** `last`: the newest checkpoint of the run, null where it has none. */
export type Filling = Restoring & { last: Last | null }

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
  const { claim, run, base, snapshots, last } = to
  const started = performance.now()
  const laid = last === null ? null : await restore(to, last)
  if (laid !== null) {
    const { restored, snapshot } = laid
    const switched = await switchOver(to)
    const [seq, found] = switched === null ? [laid.seq, Promise.resolve(snapshot)] : [switched, snapshots.take(true)]
    const { up_to_date } = restored
    return { snapshot: found, stored: up_to_date ? foundOf(laid.row) : null, seq, through_seq: seq, anew: !up_to_date, restored }
  }
  const sha = base === null ? null : await startOf(to, base)
  const how: Prepared = sha === null ? { from: 'empty' } : { from: 'clone', sha }
  const cloned = sha === null || base === null ? run.total_logs : await clone(to.deps, claim, to.sandbox, base, sha, to.signal)
  const snapshot = snapshots.prepare(how)
  if (run.steps === 0 && last === null) return { snapshot, stored: null, seq: 0, through_seq: cloned, anew: false, restored: null }
  const found = await snapshot
  const restored: Restored = { how: 'fresh', seq: null, commit: sha, tree: found?.tree ?? null, matches: false, up_to_date: false }
  const seq = await recordRestored(claim, restored, performance.now() - started)
  return { snapshot, stored: null, seq, through_seq: seq, anew: true, restored }
}

/** The folder is still there, with whatever was done to it since the last checkpoint. */
export async function takeOver(to: Filling): Promise<Filled> {
  const { claim, run, base, snapshots, last } = to
  const started = performance.now()
  await switchOver(to)
  const known = last?.tree ?? base?.sha ?? null
  const snapshot = snapshots.prepare(known === null ? { from: 'empty' } : { from: 'tree', tree: known })
  const stored = last?.covers ? foundOf(last) : null
  if (run.recovering_since === null) {
    const { total_logs } = await claim.append({})
    return { snapshot, stored, seq: total_logs, through_seq: total_logs, anew: stored === null, restored: null }
  }
  const found = await snapshot
  const matches = found !== null && found.tree === last?.tree
  const restored: Restored = {
    how: 'adopted',
    seq: last?.seq ?? null,
    commit: found?.head ?? null,
    tree: found?.tree ?? null,
    matches,
    up_to_date: true,
  }
  const seq = await recordRestored(claim, restored, performance.now() - started)
  return { snapshot, stored, seq, through_seq: seq, anew: stored === null, restored }
}

/** Onto a new branch, where the pull request of the one before was closed or merged; answers how long the trace is then. */
async function switchOver({ deps, claim, run, base, sandbox, signal }: Filling): Promise<number | null> {
  if (base === null || base.renewed === null || run.head_sha === null) return null
  return switchBranch(deps, claim, sandbox, base, run.head_sha, base.renewed.start_sha, signal)
}

/** What the run last committed, where this machine's mirror has it. */
async function startOf({ deps, run }: Filling, base: NonNullable<Filling['base']>): Promise<string> {
  const sha = base.renewed?.start_sha ?? run.head_sha ?? base.sha
  return sha === base.sha || (await hasCommit(deps.git, base.repository.id, sha)) ? sha : base.sha
}

function foundOf({ tree, head, branch, left_out, seq, through_seq }: CheckpointRow): Found {
  const snapshot = { tree, head, branch, left_out: left_out === null ? [] : (JSON.parse(left_out) as Snapshot['left_out']) }
  return { snapshot, found_at: performance.now(), seq, through_seq }
}
