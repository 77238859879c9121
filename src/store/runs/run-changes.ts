import type { ReasoningEffort } from '../../contract/reasoning-efforts.ts'
import type { ReviewMode } from '../../contract/review-modes.ts'
import type { Db } from '../database.ts'

type RunChange = {
  title?: string | undefined
  tags?: string[] | undefined
  archived?: boolean | undefined
  model?: string | undefined
  reasoning_effort?: ReasoningEffort | null | undefined
  review?: ReviewMode | null | undefined
  webhooks?: string | undefined
  budget?:
    | { max_cost_usd?: string | null; max_steps?: number | null; max_active_seconds?: number | null; max_wall_seconds?: number | null }
    | undefined
}

/** Changes what a person may configure; an absent key stays unchanged, a budget of null removes the limit. */
export async function updateRun(db: Db, organization_id: number, id: number, change: RunChange): Promise<boolean> {
  const budget = change.budget ?? {}
  const { rowCount } = await db.query({
    name: 'update_run',
    text: `update runs set title = coalesce($3, title), tags = coalesce($4, tags), archived = coalesce($5, archived), model = coalesce($6, model),
        budget_max_cost_usd = case when $7 then $8::numeric else budget_max_cost_usd end,
        budget_max_steps = case when $9 then $10::int else budget_max_steps end,
        budget_max_active_seconds = case when $11 then $12::int else budget_max_active_seconds end,
        budget_max_wall_seconds = case when $13 then $14::int else budget_max_wall_seconds end,
        webhooks = coalesce($15, webhooks), reasoning_effort = case when $16 then $17 else reasoning_effort end,
        review = case when $18 then $19 else review end, updated_at = now()
      where organization_id = $1 and id = $2`,
    values: [
      organization_id,
      id,
      change.title ?? null,
      change.tags ?? null,
      change.archived ?? null,
      change.model ?? null,
      budget.max_cost_usd !== undefined,
      budget.max_cost_usd ?? null,
      budget.max_steps !== undefined,
      budget.max_steps ?? null,
      budget.max_active_seconds !== undefined,
      budget.max_active_seconds ?? null,
      budget.max_wall_seconds !== undefined,
      budget.max_wall_seconds ?? null,
      change.webhooks ?? null,
      change.reasoning_effort !== undefined,
      change.reasoning_effort ?? null,
      change.review !== undefined,
      change.review ?? null,
    ],
  })
  return rowCount === 1
}

/** Records the trace context of the request that starts or continues the turn. */
export async function recordTraceparent(db: Db, organization_id: number, run_id: number, traceparent: string): Promise<void> {
  await db.query({
    name: 'record_traceparent',
    text: 'update runs set traceparent = $3 where organization_id = $1 and id = $2',
    values: [organization_id, run_id, traceparent],
  })
}
