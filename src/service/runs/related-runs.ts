import type { PageQuery } from '../../contract/page.ts'
import type { RelatedRun } from '../../contract/runs/related-runs.ts'
import { pageNumbers, pageWindow } from '../../core/paging.ts'
import { isTerminal } from '../../core/runs/run-transitions.ts'
import type { Db } from '../../store/database.ts'
import { type Report, reportRun } from '../../store/runs/change-run.ts'
import { listRuns, lockRun, type ShownRun } from '../../store/runs/runs.ts'
import { runLink } from '../../trace/entry.ts'
import type { Context } from '../context.ts'
import { runObjects } from './run-object.ts'
import { requireRun } from './runs.ts'

/**
 * Returns the parent of a run and its child runs, archived ones too; newest first. Throws 404 when the run is
 * not in this organization.
 */
export async function listRelatedRuns(ctx: Context, run_id: number, query: PageQuery) {
  const { parent_run_id } = await requireRun(ctx.db, ctx.organization_id, run_id)
  const window = pageWindow(query)
  const filter = { related_to: run_id, archived: null, repository_ids: ctx.actor.repository_ids ?? undefined }
  const { rows, total } = await listRuns(ctx.db, ctx.organization_id, filter, window)
  const runs = await runObjects(ctx.db, ctx.organization_id, rows, ctx.base_url)
  const items = runs.map((run, n) => ({ ...run, relation: relationOf(rows[n] as ShownRun, parent_run_id) }))
  return { items, total, ...pageNumbers(total, window) }
}

function relationOf(row: ShownRun, parent_run_id: number | null): RelatedRun['relation'] {
  if (row.id === parent_run_id) return 'parent'
  if (row.forked_at_seq !== null) return 'fork'
  return row.source_type === 'LOG_ANALYSIS' ? 'analysis' : 'child'
}

type RunLink = {
  to: { id: number; web_url: string }
  relation: 'child' | 'fork' | 'analysis'
  from_seq?: number
}

/**
 * Adds a link to a run that was created from another one to the other's trace, while the other's turn is not
 * over. Afterwards nothing is appended: the last entry of a run that has ended is its answer or its error,
 * and `GET …/related` lists them all.
 */
export async function linkWhileActive(
  tx: Db,
  ctx: Context,
  run_id: number,
  { to, relation, from_seq }: RunLink,
  event?: Report['event'],
): Promise<void> {
  const run = await lockRun(tx, ctx.organization_id, run_id)
  if (run === undefined) return
  const entries = isTerminal(run.status)
    ? []
    : [runLink(to, relation, from_seq === undefined ? {} : { from_seq })]
  await reportRun(tx, run, { entries, event })
}
