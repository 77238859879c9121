import type { ListLogsQuery } from '../contract/logs.ts'
import { pageNumbers } from '../core/paging.ts'
import { traceUrl } from '../core/trace-url.ts'
import { type EntryRow, findEntries, listEntries } from '../store/log-entries.ts'
import type { RunRow } from '../store/runs.ts'
import type { Context } from './context.ts'
import { requireRun } from './runs.ts'

/**
 * One page of a run's trace as JSON text (spec §Retrieve agent run logs). Entries are passed through as they are stored.
 * Without a filter the page is a range of `seq`, so that its cost does not grow with `skip`.
 */
export async function listRunLogs(ctx: Context, run_id: number, query: ListLogsQuery): Promise<string> {
  const run = await requireRun(ctx.db, ctx.organization_id, run_id)
  const { skip, limit, reverse = false, ...filter } = query
  const filtered = Object.values(filter).some(value => value !== undefined)
  if (filtered) {
    const { rows, total } = await findEntries(ctx.db, ctx.organization_id, run_id, filter, { skip, limit, reverse })
    return page(ctx, run, rows, { filtered_total: total, ...pageNumbers(total, { skip, limit }) })
  }
  const [from, to] = reverse ? [run.total_logs - skip - limit + 1, run.total_logs - skip] : [skip + 1, skip + limit]
  const rows =
    to < 1 || from > run.total_logs
      ? []
      : await listEntries(ctx.db, ctx.organization_id, run_id, Math.max(from, 1), Math.min(to, run.total_logs))
  return page(ctx, run, reverse ? rows.reverse() : rows, pageNumbers(run.total_logs, { skip, limit }))
}

function page(ctx: Context, run: RunRow, rows: EntryRow[], numbers: Record<string, number>): string {
  const head = JSON.stringify({
    id: run.id,
    organization_id: run.organization_id,
    status: run.status,
    created_at: run.created_at.toISOString(),
    web_url: traceUrl(ctx.base_url, run.id),
    result: run.result,
  })
  const tail = JSON.stringify({ total_logs: run.total_logs, ...numbers })
  return `${head.slice(0, -1)},"metadata":${run.metadata ?? 'null'},"logs":[${rows.map(row => row.body).join(',')}],${tail.slice(1)}`
}
