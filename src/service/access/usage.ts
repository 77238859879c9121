import type { UsageQuery } from '../../contract/organizations/usage.ts'
import { invalid } from '../../core/service-error.ts'
import { plainDecimal } from '../../core/text/plain-decimal.ts'
import { sumUsage, type UsageRow, usedThisMonth } from '../../store/access/usage-days.ts'
import type { Context } from '../context.ts'

/** Returns what the runs of an organization used per day (UTC). Throws 400 when the last day is before the first. */
export async function getUsage(ctx: Context, query: UsageQuery) {
  const month = await usedThisMonth(ctx.db, ctx.organization_id)
  const from = query.from ?? month.month
  const to = query.to ?? new Date().toISOString().slice(0, 10)
  if (to < from) throw invalid(['query', 'to'], `must not be before ${from}`)
  const [rows, [total]] = [
    await sumUsage(ctx.db, ctx.organization_id, from, to, query.group_by),
    await sumUsage(ctx.db, ctx.organization_id, from, to, null),
  ]
  return {
    ...{ from, to, group_by: query.group_by },
    items: rows.map(row => ({ day: row.day, repo_id: row.repository_id, user_id: row.user_id, model: row.model, ...numbers(row) })),
    total: numbers(total as UsageRow),
    month: {
      first_day: month.month,
      runs: month.runs,
      runs_per_month: month.runs_per_month,
      known_cost_usd: plainDecimal(month.cost_usd),
      budget_usd_per_month: month.budget_usd_per_month === null ? null : plainDecimal(month.budget_usd_per_month),
    },
  }
}

function numbers(row: UsageRow) {
  const known_cost_usd = plainDecimal(row.cost_usd)
  return {
    ...{ runs: row.runs, completed: row.completed, failed: row.failed, cancelled: row.cancelled },
    ...{ input_tokens: row.input_tokens, output_tokens: row.output_tokens, cached_tokens: row.cached_tokens },
    cost_usd: row.cost_known ? known_cost_usd : null,
    known_cost_usd,
    active_seconds: row.active_ms / 1000,
  }
}
