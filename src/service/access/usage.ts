import type { Usage, UsageItem, UsageQuery } from '../../contract/organizations/usage.ts'
import { invalid } from '../../core/service-error.ts'
import { plainDecimal } from '../../core/text/plain-decimal.ts'
import {
  type ProposedRow,
  sumProposed,
  sumUsage,
  type UsageRow,
  usedThisMonth,
} from '../../store/access/usage-days.ts'
import type { Context } from '../context.ts'

/**
 * Returns what the runs of an organization used per day (UTC). Throws 400 when the last day is before the
 * first.
 */
export async function getUsage(ctx: Context, { group_by, format: _, ...query }: UsageQuery): Promise<Usage> {
  const month = await usedThisMonth(ctx.db, ctx.organization_id)
  const from = query.from ?? month.month
  const to = query.to ?? new Date().toISOString().slice(0, 10)
  if (to < from) throw invalid(['query', 'to'], `must not be before ${from}`)
  const filter = { ...query, from, to }
  const rows = await sumUsage(ctx.db, ctx.organization_id, filter, group_by)
  const proposed = new Map(
    (await sumProposed(ctx.db, ctx.organization_id, filter, group_by)).map(row => [keyOf(row), row]),
  )
  const [total] = await sumUsage(ctx.db, ctx.organization_id, filter, null)
  const [total_proposed] = await sumProposed(ctx.db, ctx.organization_id, filter, null)
  return {
    from,
    to,
    group_by,
    items: rows.map(row => ({
      day: row.day,
      repo_id: row.repository_id,
      user_id: row.user_id,
      model: row.model,
      name: row.name,
      ...numbers(row, proposed.get(keyOf(row))),
    })),
    total: numbers(total as UsageRow, total_proposed),
    month: {
      first_day: month.month,
      runs: month.runs,
      runs_per_month: month.runs_per_month,
      known_cost_usd: plainDecimal(month.cost_usd),
      budget_usd_per_month:
        month.budget_usd_per_month === null ? null : plainDecimal(month.budget_usd_per_month),
    },
  }
}

const keyOf = (row: Pick<UsageRow, 'day' | 'repository_id' | 'user_id' | 'model'>): string =>
  `${row.day ?? row.repository_id ?? row.user_id ?? row.model}`

const thousandths = (value: number) => Math.round(value * 1_000) / 1_000

function numbers(row: UsageRow, proposed: ProposedRow | undefined) {
  const known_cost_usd = plainDecimal(row.cost_usd)
  const ended = row.completed + row.failed
  const seconds = proposed?.median_seconds ?? null
  return {
    runs: row.runs,
    completed: row.completed,
    completed_with_reason: row.completed_with_reason,
    failed: row.failed,
    cancelled: row.cancelled,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    cached_tokens: row.cached_tokens,
    cost_usd: row.cost_known ? known_cost_usd : null,
    known_cost_usd,
    active_seconds: row.active_ms / 1000,
    estimated_calls: row.estimated_calls,
    success_rate: ended > 0 ? thousandths((row.completed - row.completed_with_reason) / ended) : null,
    pull_requests: proposed?.pull_requests ?? 0,
    median_seconds_to_pull_request: seconds === null ? null : thousandths(seconds),
  }
}

/**
 * Returns the items as CSV (RFC 4180). A text that a spreadsheet would take for a formula is prefixed by an
 * apostrophe.
 */
export function usageCsv(items: UsageItem[]): string {
  const cell = (value: string | number | null) => {
    if (typeof value !== 'string') return `${value ?? ''}`
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  const columns = [...COLUMNS]
  return [columns, ...items.map(item => columns.map(name => item[name]))]
    .map(line => `${line.map(cell).join(',')}\r\n`)
    .join('')
}

const COLUMNS = [
  ...([
    'day',
    'repo_id',
    'user_id',
    'model',
    'name',
    'runs',
    'completed',
    'failed',
    'cancelled',
    'success_rate',
  ] as const),
  ...([
    'input_tokens',
    'output_tokens',
    'cached_tokens',
    'cost_usd',
    'known_cost_usd',
    'active_seconds',
  ] as const),
  ...(['pull_requests', 'median_seconds_to_pull_request'] as const),
  ...(['completed_with_reason', 'estimated_calls'] as const),
]
