import type { RunDiff } from '../contract/run-diff.ts'
import { getChange } from '../store/changes.ts'
import type { Context } from './context.ts'
import { requireRun } from './runs.ts'

/** The whole change of a run as of its last commit; empty while nothing was committed. 404 when it is not in this organization. */
export async function getRunDiff(ctx: Context, run_id: number): Promise<RunDiff> {
  const run = await requireRun(ctx.db, ctx.organization_id, run_id)
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
