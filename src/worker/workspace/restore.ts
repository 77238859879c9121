import { type Kept, withObjectCache } from '../../git/objects/object-cache.ts'
import type { Snapshot } from '../../git/workspace/checkpoint-commands.ts'
import { restoreCommand } from '../../git/workspace/restore-command.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { type CheckpointRow, listCheckpoints } from '../../store/workspaces/checkpoints.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import type { Base } from '../base/base.ts'
import { runInWorkspace, workspaceRepository } from '../base/checkout.ts'
import { bringObjects } from '../base/kept-objects.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import type { Snapshots } from './snapshots.ts'

export const KEPT_INSIDE = '/kept'
/** When the newest checkpoint cannot be laid out, as many older ones are tried. */
const TRIES = 5
const EMPTY = 'find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +'

/** How a workspace came to be that is not the first one of its run. */
export type Restored = {
  how: 'adopted' | 'restored' | 'fresh'
  /** The entry after which the files were so; null: as of a commit. */
  seq: number | null
  commit: string | null
  tree: string | null
  /** The files were read back, and are the ones that were kept. */
  matches: boolean
  /** They are all files that the run had at its last entry, but for ignored ones. */
  up_to_date: boolean
}

export type Last = CheckpointRow & { covers: boolean }
export type Restoring = {
  deps: WorkerDeps
  writer: RunWriter
  run: RunRow
  base: Base | null
  kept: Kept
  sandbox: Sandbox
  snapshots: Snapshots
  signal: AbortSignal
}

/**
 * Lays the newest files that were kept out in an empty workspace, or one with nothing but what a setup has made in it, which is `made` and more,
 * and reads them back. Where they do not go together, what was made goes. Null: nothing that was kept can be used. Rejects with the reason of
 * `signal`, and says nothing of files then that it has not read.
 */
export async function restore(
  to: Restoring,
  last: Last,
  made: string[] | null,
): Promise<{ row: CheckpointRow; snapshot: Snapshot; restored: Restored; seq: number; beside: string[] | null } | null> {
  const { deps, writer, run, sandbox, snapshots, signal } = to
  const rows = await listCheckpoints(deps.db, run.organization_id, run.id, TRIES)
  const tries = rows.map(row => ({ row, beside: null as string[] | null }))
  const [newest] = rows
  if (made !== null && newest !== undefined) tries.unshift({ row: newest, beside: made })
  for (const { row, beside } of tries) {
    const started = performance.now()
    const failure = await populateWorkspace(to, row, beside ?? [])
    const snapshot = failure === null ? await snapshots.prepare({ from: 'tree', tree: row.tree, without: beside ?? [] }) : null
    signal.throwIfAborted()
    const matches = snapshot?.tree === row.tree
    const up_to_date = matches && row.seq === last.seq && last.covers && row.left_out === null
    const restored: Restored = { how: 'restored', seq: row.seq, commit: row.head, tree: row.tree, matches, up_to_date }
    const missing = row.left_out === null ? {} : { left_out: JSON.parse(row.left_out) as unknown }
    const unlike = beside === null ? 'The files are not those that were kept.' : 'They do not go with what the setup commands have made.'
    const error = matches ? null : (failure ?? unlike)
    const seq = await recordRestored(writer, restored, performance.now() - started, { ...missing, ...(error !== null && { error }) })
    if (snapshot && matches) return { row, snapshot, restored, seq, beside }
    await runInWorkspace(deps, sandbox, EMPTY, signal)
  }
  return null
}

/** The ACTION that tells how a workspace came back, and where it stands. */
export async function recordRestored(
  writer: RunWriter,
  restored: Restored,
  duration_ms: number,
  more: Record<string, unknown> = {},
): Promise<number> {
  const output = { status: 'error' in more ? 'error' : 'ok', ...restored, ...more }
  return (await writer.append({ entries: [serviceAction('workspace_restored', {}, output, duration_ms)] })).total_logs
}

/** Null when git did it, otherwise why not. */
async function populateWorkspace(
  { deps, run, base, kept, sandbox, signal }: Restoring,
  row: CheckpointRow,
  beside: readonly string[],
): Promise<string | null> {
  const objects = [row.tree, ...(row.head === null ? [] : [row.head])]
  const bounds = { max_bytes: deps.checkpoints.max_pack_bytes, fetch_ms: deps.git_limits.fetch_ms, signal }
  const there = await withObjectCache(
    deps.git,
    run.id,
    () => bringObjects(deps, run.organization_id, kept, row.packs, objects, bounds),
    signal,
  )
  if (!there) return 'Some of its objects cannot be had any more.'
  // A run that was forked goes on with a branch of its own.
  const branch = run.forked_at_seq !== null && row.seq === 0 ? (base?.branch ?? row.branch) : row.branch
  const repository = base === null ? null : workspaceRepository(deps, base, row.base_sha ?? base.sha)
  const command = restoreCommand({ kept_inside: KEPT_INSIDE, tree: row.tree, head: row.head, branch, beside }, repository)
  const { status, output, ended } = await runInWorkspace(deps, sandbox, command, signal)
  return status === 'ok' ? null : output.slice(-1_000) || ended
}
