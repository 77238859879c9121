import type { LogEntry } from '../../contract/runs/logs.ts'
import type { RunTimeline, TimelineQuery } from '../../contract/runs/timeline.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { partStarts, type SectionStart, timelineOf } from '../../core/runs/trace/timeline.ts'
import { sumCosts } from '../../store/runs/journal.ts'
import { countKinds, listPlans } from '../../store/runs/log-entries.ts'
import type { Context } from '../context.ts'
import { requireRun } from './runs.ts'

const DEFAULT_PARTS = 500
/** An agent may write any number of plans. */
const MAX_PLANS = 300

/**
 * Returns turns, sections and parts of a run's trace with their times, failures and costs
 * (specification.md#logs), at most some thousand rows for any number of entries. 404 when the run is not in
 * this organization.
 */
export async function getRunTimeline(
  ctx: Context,
  run_id: number,
  { parts = DEFAULT_PARTS }: TimelineQuery,
): Promise<RunTimeline> {
  const run = await requireRun(ctx.db, ctx.organization_id, run_id)
  const plans = await listPlans(ctx.db, ctx.organization_id, run_id, MAX_PLANS)
  const sections = plans.map(({ seq, body }) => ({ seq, title: currentItem(storedJson<LogEntry>(body)) }))
  const starts = partStarts(run.total_logs, parts, sections)
  const [kinds, costs] = await Promise.all([
    countKinds(ctx.db, ctx.organization_id, run_id, starts),
    sumCosts(ctx.db, ctx.organization_id, run_id, starts),
  ])
  return {
    agent_run_id: run_id,
    total_logs: run.total_logs,
    ...timelineOf(kinds, costs, sections, run.cost_known),
  }
}

/**
 * Returns the item that is in progress, or the next one of a plan that marks none. Plans of recorded sessions
 * may have any shape.
 */
function currentItem({ observation }: LogEntry): SectionStart['title'] {
  const plan = typeof observation === 'object' && observation !== null ? observation.plan : null
  const items: unknown[] = Array.isArray(plan) ? plan : []
  for (const state of ['in_progress', 'pending']) {
    for (const item of items) {
      if (
        typeof item === 'object' &&
        item !== null &&
        'state' in item &&
        item.state === state &&
        'text' in item
      )
        return String(item.text)
    }
  }
  return null
}
