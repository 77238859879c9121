import type { ListLogsQuery } from '../../../contract/runs/logs.ts'
import { pageNumbers, pageWindow } from '../../../core/paging.ts'
import { traceUrl } from '../../../core/runs/trace-url.ts'
import type { RunState } from '../../../core/wire-profile.ts'
import { batched } from '../../../store/batch.ts'
import type { Db } from '../../../store/database.ts'
import { findEntries, searchEntries } from '../../../store/runs/log-entries.ts'
import { findRunHeads, type RunHead } from '../../../store/runs/run-heads.ts'
import { shownEntry } from '../../../trace/entry.ts'
import type { Context, RunHeadFinder } from '../../context.ts'
import { runNotFound } from '../runs.ts'
import { entriesText } from './log-pages.ts'

/** Batches all lookups of one turn of the event loop into one statement. */
export const runHeadFinder = (db: Db): RunHeadFinder => batched(keys => findRunHeads(db, keys))

type Head = { status: string; result: string | null }

/**
 * Returns one page of a run's trace as JSON text, in pieces that are not copied together (specification.md#logs). Entries are passed through as
 * they are stored; `headOf` words the run's status and result for the caller. Without a filter the page is a range of `seq`, so that its cost
 * does not grow with `skip`.
 */
export async function listRunLogs(
  ctx: Context,
  run_id: number,
  query: ListLogsQuery,
  headOf: (run: RunState & { result: string }) => Head,
): Promise<Buffer[]> {
  const run = await (ctx.run_head ?? ctx.findRunHead({ organization_id: ctx.organization_id, id: run_id }))
  if (!run) throw runNotFound()
  const { skip: _skip, limit: _limit, page: _page, size: _size, reverse = false, q, ...filter } = query
  const { skip, limit } = pageWindow(query)
  const filtered = q !== undefined || Object.values(filter).some(value => value !== undefined)
  if (filtered) {
    const window = { skip, limit, reverse }
    const { rows, total } =
      q === undefined
        ? await findEntries(ctx.db, ctx.organization_id, run_id, filter, window)
        : await searchEntries(ctx.db, ctx.organization_id, run_id, { ...filter, q }, window)
    const entries = Buffer.from(rows.map(row => shownEntry(row.body, ctx.base_url)).join(','))
    return pageText(ctx, run, headOf(run), entries, { filtered_total: total, ...pageNumbers(total, { skip, limit }) })
  }
  const [from, to] = reverse ? [run.total_logs - skip - limit + 1, run.total_logs - skip] : [skip + 1, skip + limit]
  const entries = await entriesText(ctx, run_id, Math.max(from, 1), Math.min(to, run.total_logs), reverse)
  return pageText(ctx, run, headOf(run), entries, pageNumbers(run.total_logs, { skip, limit }))
}

function pageText(ctx: Context, run: RunHead, { status, result }: Head, entries: Buffer, numbers: Record<string, number>): Buffer[] {
  const head = JSON.stringify({
    id: run.id,
    organization_id: run.organization_id,
    status,
    created_at: run.created_at.toISOString(),
    web_url: traceUrl(ctx.base_url, run.id),
    result,
  })
  const tail = JSON.stringify({ total_logs: run.total_logs, ...numbers })
  return [Buffer.from(`${head.slice(0, -1)},"metadata":${run.metadata ?? 'null'},"logs":[`), entries, Buffer.from(`],${tail.slice(1)}`)]
}
