import type { ReasoningEffort } from '../../contract/reasoning-efforts.ts'
import type { ReviewMode } from '../../contract/review-modes.ts'
import { type ByLimit, limit_names, run_limits } from '../../contract/runs/run-limits.ts'
import type { Db } from '../database.ts'

type RunChange = {
  title?: string | undefined
  tags?: string[] | undefined
  archived?: boolean | undefined
  model?: string | undefined
  reasoning_effort?: ReasoningEffort | null | undefined
  review?: ReviewMode | null | undefined
  webhooks?: string | undefined
  budget?: Partial<ByLimit<string | null | undefined, number | null | undefined>> | undefined
}

/** The first parameter of the budget: whether a limit changes, and its value. */
const BUDGET_FROM = 12
const budget_set = limit_names.map((name, i) => {
  const [changes, value] = [BUDGET_FROM + 2 * i, BUDGET_FROM + 2 * i + 1]
  const type = run_limits[name].unit === 'usd' ? 'numeric' : 'int'
  return `budget_${name} = case when $${changes} then $${value}::${type} else budget_${name} end`
})

/** Changes what a person may configure; an absent key stays unchanged, a budget of null removes the limit. */
export async function updateRun(
  db: Db,
  organization_id: number,
  id: number,
  change: RunChange,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'update_run',
    text: `update runs
      set title = coalesce($3, title), tags = coalesce($4, tags), archived = coalesce($5, archived),
        model = coalesce($6, model), webhooks = coalesce($7, webhooks),
        reasoning_effort = case when $8 then $9 else reasoning_effort end,
        review = case when $10 then $11 else review end, ${budget_set.join(', ')}, updated_at = now()
      where organization_id = $1 and id = $2`,
    values: [
      organization_id,
      id,
      change.title ?? null,
      change.tags ?? null,
      change.archived ?? null,
      change.model ?? null,
      change.webhooks ?? null,
      change.reasoning_effort !== undefined,
      change.reasoning_effort ?? null,
      change.review !== undefined,
      change.review ?? null,
      ...limit_names.flatMap(name => [change.budget?.[name] !== undefined, change.budget?.[name] ?? null]),
    ],
  })
  return rowCount === 1
}

/** Records the trace context of the request that starts or continues the turn. */
export async function recordTraceparent(
  db: Db,
  organization_id: number,
  run_id: number,
  traceparent: string,
): Promise<void> {
  await db.query({
    name: 'record_traceparent',
    text: 'update runs set traceparent = $3 where organization_id = $1 and id = $2',
    values: [organization_id, run_id, traceparent],
  })
}
