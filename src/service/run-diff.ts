import type { DiffQuery, RunDiff } from '../contract/run-diff.ts'
import { invalid, ServiceError } from '../core/service-error.ts'
import { getChange } from '../store/changes.ts'
import type { Context } from './context.ts'
import { requireRun } from './runs.ts'

/**
 * The whole change of a run as of its last commit; empty while nothing was committed. 404 when it is not in this organization, 400 for a
 * range that ends before it begins, 501 for any other.
 */
export async function getRunDiff(ctx: Context, run_id: number, { from_seq, to_seq }: DiffQuery): Promise<RunDiff> {
  const run = await requireRun(ctx.db, ctx.organization_id, run_id)
  if (from_seq !== undefined && to_seq !== undefined && to_seq < from_seq)
    throw invalid(['query', 'to_seq'], `must not be less than ${from_seq}`)
  if (from_seq !== undefined || to_seq !== undefined)
    throw new ServiceError('not_available', 'The change between two entries cannot be shown in this version.')
  const change = await getChange(ctx.db, ctx.organization_id, run_id)
  if (!change)
    return {
      agent_run_id: run_id,
      base_sha: run.base_sha,
      head_sha: null,
      files_changed: 0,
      additions: 0,
      deletions: 0,
      files: [],
      patch: '',
      patch_truncated: false,
    }
  return { ...change, agent_run_id: run_id, files: JSON.parse(change.files) as RunDiff['files'] }
}
