import { actionTool, serviceTools } from '../../contract/runs/action-tools.ts'
import { tools_without_effect } from '../../core/runs/file-tools.ts'
import { type CacheOwner, withObjectCache } from '../../git/objects/object-cache.ts'
import type { Snapshot } from '../../git/workspace/checkpoint-commands.ts'
import { restoreCommand } from '../../git/workspace/restore-command.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import {
  type ActionRef,
  actionsBetween,
  type CheckpointRow,
  listCheckpoints,
} from '../../store/workspaces/checkpoints.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import type { Base } from '../base/base.ts'
import { runInWorkspace, shownReason, workspaceRepository } from '../base/checkout.ts'
import { loadObjects } from '../base/kept-objects.ts'
import type { Templates } from '../base/templates.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerServices } from '../services.ts'
import type { Snapshots } from './snapshots.ts'

export const KEPT_INSIDE = '/kept'
/** How many checkpoints are tried, the newest first. */
const MAX_TRIES = 5
/** How many lost actions the trace and the agent's message name. */
const MAX_LOST_ACTIONS = 50
/** Only what the agent does can be lost: the next worker clones, sets up and commits by itself. */
const no_actions: readonly string[] = [...tools_without_effect, ...serviceTools]
const EMPTY = 'find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +'

/** How a workspace was created that is not the first one of its run. */
export type RestoredWorkspace = {
  how: 'adopted' | 'restored' | 'fresh'
  /** The entry after which the files had this state; null: the state of a commit. */
  seq: number | null
  commit: string | null
  tree: string | null
  /** The files were read back and equal the checkpoint. */
  matches: boolean
  /** They are all files that the run had at its last entry, except ignored ones. */
  up_to_date: boolean
  /** The last actions that may have changed files and whose changes are missing, newest first. */
  lost_actions: ActionRef[]
}

export type Last = CheckpointRow & { covers: boolean }
export type RestoreInput = {
  deps: Pick<WorkerServices, 'git' | 'git_limits' | 'author' | 'db' | 'log' | 'checkpoints'> & {
    templates: Pick<Templates, 'discard'>
  }
  writer: RunWriter
  run: RunRow
  base: Base | null
  kept: CacheOwner
  sandbox: Sandbox
  snapshots: Snapshots
  signal: AbortSignal
}

/**
 * Restores the newest checkpoint in a workspace that is empty or holds the files of a setup, among them
 * `set_up`, and reads it back. Files of a setup that conflict with the checkpoint are removed. Null: no
 * checkpoint can be used. Rejects with the reason of `signal`, before it claims anything about files that it
 * has not read.
 */
export async function restore(
  to: RestoreInput,
  last: Last,
  set_up: string[] | null,
): Promise<{
  row: CheckpointRow
  snapshot: Snapshot
  restored: RestoredWorkspace
  seq: number
  beside: string[] | null
} | null> {
  const { deps, writer, run, sandbox, snapshots, signal } = to
  const rows = await listCheckpoints(deps.db, run.organization_id, run.id, MAX_TRIES)
  const tries = rows.map(row => ({ row, beside: null as string[] | null }))
  const [newest] = rows
  if (set_up !== null && newest !== undefined) tries.unshift({ row: newest, beside: set_up })
  for (const { row, beside } of tries) {
    const started = performance.now()
    const failure = await restoreCheckpoint(to, row, beside ?? [])
    const snapshot =
      failure === null
        ? await snapshots.prepare({ from: 'tree', tree: row.tree, without: beside ?? [] })
        : null
    signal.throwIfAborted()
    const matches = snapshot?.tree === row.tree
    const up_to_date = matches && row.seq === last.seq && last.covers && row.left_out === null
    const lost_actions = up_to_date ? [] : await listLostActions(to, row.through_seq)
    const restored: RestoredWorkspace = {
      how: 'restored',
      seq: row.seq,
      commit: row.head,
      tree: row.tree,
      matches,
      up_to_date,
      lost_actions,
    }
    const missing = row.left_out === null ? {} : { left_out: row.left_out }
    const difference =
      beside === null
        ? 'The files differ from the checkpoint.'
        : 'The checkpoint conflicts with the files of the setup commands.'
    const error = matches ? null : (failure ?? difference)
    const seq = await recordRestored(writer, restored, performance.now() - started, {
      ...missing,
      ...(error !== null && { error }),
    })
    if (snapshot && matches) return { row, snapshot, restored, seq, beside }
    await runInWorkspace(deps, sandbox, EMPTY, signal)
  }
  return null
}

/**
 * Lists the actions after entry `after_seq` whose changes are lost: their checkpoint was too large, late, or
 * is damaged. A step that has one is recorded together with it
 * (decisions.md#the-outcome-of-a-step-waits-for-its-files).
 */
export const listLostActions = (
  { deps, run }: Pick<RestoreInput, 'deps' | 'run'>,
  after_seq: number,
): Promise<ActionRef[]> =>
  actionsBetween(deps.db, [run.organization_id, run.id], {
    after: after_seq,
    through: run.total_logs,
    tools_without_effect: no_actions,
    limit: MAX_LOST_ACTIONS,
  })

/** Appends the ACTION about the restored workspace and returns its `seq`. */
export async function recordRestored(
  writer: RunWriter,
  restored: RestoredWorkspace,
  duration_ms: number,
  more: Record<string, unknown> = {},
): Promise<number> {
  const output = { status: 'error' in more ? 'error' : 'ok', ...restored, ...more }
  return (
    await writer.append({ entries: [serviceAction(actionTool.workspace_restored, {}, output, duration_ms)] })
  ).total_logs
}

/** Null: restored; otherwise why not. */
async function restoreCheckpoint(
  { deps, writer, run, base, kept, sandbox, signal }: RestoreInput,
  row: CheckpointRow,
  beside: readonly string[],
): Promise<string | null> {
  const objects = [row.tree, ...(row.head === null ? [] : [row.head])]
  const bounds = { max_bytes: deps.checkpoints.max_pack_bytes, fetch_ms: deps.git_limits.fetch_ms, signal }
  const wanted = { organization_id: run.organization_id, kept, packs: row.packs, objects }
  const loaded = await withObjectCache(deps.git, run.id, () => loadObjects(deps, wanted, bounds), signal)
  if (!loaded) return 'Some of its objects are missing.'
  // A forked run continues on a branch of its own.
  const branch = run.forked_at_seq !== null && row.seq === 0 ? (base?.branch ?? row.branch) : row.branch
  const repository = base === null ? null : workspaceRepository(deps, base, row.base_sha ?? base.sha)
  const command = restoreCommand(
    { kept_inside: KEPT_INSIDE, tree: row.tree, head: row.head, branch, beside },
    repository,
  )
  const ran = await runInWorkspace(deps, sandbox, command, signal)
  return ran.status === 'ok' ? null : await shownReason(writer, ran)
}
