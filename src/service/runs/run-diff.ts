import type { DiffQuery, RunDiff } from '../../contract/runs/run-diff.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { getChange } from '../../store/changes.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { CheckpointRow } from '../../store/workspaces/checkpoints.ts'
import type { Context } from '../context.ts'
import { filesRedactor, filesUnavailable, newestFiles, requireFilesAt } from './kept-files.ts'
import { requireRun } from './runs.ts'

const NOTHING = { files_changed: 0, additions: 0, deletions: 0, files: [], patch: '', patch_truncated: false }

/**
 * Returns the whole change of a run as of its last commit, empty before the first commit; or the change of
 * its files between two entries. Throws 404 when it is not in this organization, 400 for entries that do not
 * exist or a reversed range, 409 when the files of an entry are not kept, 503 while they are unavailable.
 */
export async function getRunDiff(
  ctx: Context,
  run_id: number,
  { from_seq, to_seq }: DiffQuery,
): Promise<RunDiff> {
  const run = await requireRun(ctx.db, ctx.organization_id, run_id)
  if (from_seq !== undefined || to_seq !== undefined) return diffOfSteps(ctx, run, from_seq ?? 0, to_seq)
  const change = await getChange(ctx.db, ctx.organization_id, run_id)
  if (!change) return { agent_run_id: run_id, base_sha: run.base_sha, head_sha: null, ...NOTHING }
  return { ...change, agent_run_id: run_id }
}

async function diffOfSteps(
  ctx: Context,
  run: RunRow,
  from_seq: number,
  requested_to: number | undefined,
): Promise<RunDiff> {
  for (const [name, seq] of Object.entries({ from_seq, to_seq: requested_to ?? 0 }))
    if (seq > run.total_logs)
      throw invalid(['query', name], `must not be more than ${run.total_logs}, the last entry of the run`)
  if (requested_to !== undefined && requested_to < from_seq)
    throw invalid(['query', 'to_seq'], `must not be less than ${from_seq}`)
  const from = await requireFilesAt(ctx.db, run, from_seq, false)
  const newest = requested_to === undefined ? await newestFiles(ctx.db, run) : undefined
  const to_seq = requested_to ?? Math.max(from_seq, newest ?? 0)
  const to = await requireFilesAt(ctx.db, run, to_seq, false)
  const range = { agent_run_id: run.id, base_sha: run.base_sha, head_sha: to?.head ?? null, from_seq, to_seq }
  if (to === null || from?.tree === to.tree) return { ...range, ...NOTHING }
  return { ...range, ...(await between(ctx, run, from, to)) }
}

async function between(ctx: Context, run: RunRow, from: CheckpointRow | null, to: CheckpointRow) {
  const start = from?.tree ?? to.base_sha
  const packs = Math.max(from?.packs ?? 0, to.packs)
  const found =
    start === null
      ? null
      : await ctx.readTrees(run, { packs, from: start, to: to.tree }).catch(filesUnavailable)
  if (found === null)
    throw new ServiceError('conflict', 'The files of these entries are no longer available.')
  return (await filesRedactor(ctx, run)).value(found)
}
