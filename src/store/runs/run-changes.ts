import type { ReasoningEffort } from '../../contract/reasoning-efforts.ts'
import type { ReviewMode } from '../../contract/review-modes.ts'
import { type ByLimit, type LimitName, limit_names } from '../../contract/runs/run-limits.ts'
import { changedOne, type Db } from '../database.ts'
import { now, updateRow } from '../statement.ts'

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

type BudgetColumns<B> = { [L in LimitName as `budget_${L}`]: L extends keyof B ? B[L] : undefined }

/** Returns the columns of a budget. */
export const budgetColumns = <B extends RunChange['budget'] & {}>(budget: B): BudgetColumns<B> =>
  Object.fromEntries(limit_names.map(name => [`budget_${name}`, budget[name]])) as BudgetColumns<B>

/** Changes what a person may configure; an absent key stays unchanged, a budget of null removes the limit. */
export function updateRun(db: Db, organization_id: number, id: number, change: RunChange): Promise<boolean> {
  return changedOne(
    db,
    updateRow('runs', {
      where: { organization_id, id },
      set: { updated_at: now },
      change: {
        title: change.title,
        tags: change.tags,
        archived: change.archived,
        model: change.model,
        webhooks: change.webhooks,
        reasoning_effort: change.reasoning_effort,
        review: change.review,
        ...budgetColumns(change.budget ?? {}),
      },
    }),
  )
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
