import type { ListLogsQuery } from '../../../contract/runs/logs.ts'
import { type Extent, extentOf, pageNumbers, pageWindow, type Window } from '../../../core/paging.ts'
import { shownEntry } from '../../../core/runs/trace/stored-entry.ts'
import { traceUrl } from '../../../core/runs/trace-url.ts'
import type { RunState } from '../../../core/wire-profile.ts'
import {
  type FoundEntries,
  findEntries,
  listEntries,
  searchEntries,
} from '../../../store/runs/log-entries.ts'
import type { RunHead } from '../../../store/runs/run-heads.ts'
import type { Context } from '../../context.ts'
import { runNotFound } from '../runs.ts'
import { listBytes, pageOf, responseWith } from './log-page-cache.ts'

type Head = { status: string; result: string | null }

/**
 * Returns one page of a run's trace as JSON text (specification.md#logs), for a page that is kept and a run
 * that has not changed the same bytes as before. Entries are passed through as they are stored; `headOf`
 * words the run's status and result for the caller. Without a filter the page is a range of `seq`, so that
 * its cost does not grow with `skip`.
 */
export async function listRunLogs(
  ctx: Context,
  run_id: number,
  query: ListLogsQuery,
  headOf: (run: RunState & { result: string }) => Head,
): Promise<{ body: Buffer; extent: Extent }> {
  const run = ctx.run_head
  if (run === null) throw runNotFound()
  const {
    skip: _skip,
    limit: _limit,
    page: _page,
    size: _size,
    cursor: _cursor,
    reverse = false,
    ...filter
  } = query
  const window = pageWindow(query)
  if (Object.values(filter).some(value => value !== undefined)) {
    const { rows, total } = await findLogs(ctx, run_id, { ...filter, reverse }, known(window, run.total_logs))
    const shown = rows.map(row => shownEntry(row.body, ctx.base_url))
    const [head, tail] = aroundEntries(ctx, run, headOf(run), {
      filtered_total: total,
      ...pageNumbers(total, window),
    })
    return { body: listBytes(head, shown, tail), extent: extentOf(rows, 'seq', total, window) }
  }
  const [from, to] = seqsOf(window, reverse, run.total_logs)
  const [head, tail] = aroundEntries(ctx, run, headOf(run), pageNumbers(run.total_logs, window))
  const body = await pageBytes(ctx, { run_id, from, to, reverse }, head, tail)
  const [first, last, more] = reverse ? [to, from, from > 1] : [from, to, to < run.total_logs]
  const extent = to < from ? null : { first, last, more, count: to - from + 1 }
  return { body, extent }
}

/**
 * Returns the first and the last `seq` of a page, ascending; the last one is less than the first for an empty
 * page.
 */
function seqsOf({ skip, limit, from }: Window, reverse: boolean, total_logs: number): [number, number] {
  const key = from === undefined ? (reverse ? total_logs - skip + 1 : skip) : Number(from.key)
  const upwards = reverse === (from?.backward ?? false)
  return upwards
    ? [key + 1, Math.min(key + limit, total_logs)]
    : [Math.max(key - limit, 1), Math.min(key - 1, total_logs)]
}

type LogFilter = Omit<ListLogsQuery, 'skip' | 'limit' | 'page' | 'size' | 'cursor' | 'reverse'> & {
  reverse: boolean
}

/**
 * A cursor may name any number, the database compares `seq` as an integer: beyond the trace it is the end of
 * the trace.
 */
function known(window: Window, total_logs: number): Window {
  if (window.from === undefined) return window
  return {
    ...window,
    from: { ...window.from, key: String(Math.min(Math.max(Number(window.from.key), 0), total_logs + 1)) },
  }
}

/** Returns one page of the matching entries. A cursor narrows the filter to the entries on one side of it. */
async function findLogs(
  ctx: Context,
  run_id: number,
  filter: LogFilter,
  { skip, limit, from }: Window,
): Promise<FoundEntries> {
  if (from === undefined) return find(ctx, run_id, filter, { skip, limit })
  const key = Number(from.key)
  const later = { ...filter, after_seq: Math.max(filter.after_seq ?? 0, key) }
  const earlier = { ...filter, before_seq: Math.min(filter.before_seq ?? key, key) }
  const [ahead, behind] = filter.reverse ? [earlier, later] : [later, earlier]
  if (!from.backward) {
    const { rows, total } = await find(ctx, run_id, ahead, { skip: 0, limit })
    return { rows, total: skip + total }
  }
  const { rows, total } = await find(ctx, run_id, { ...behind, reverse: !filter.reverse }, { skip: 0, limit })
  const rest = await find(ctx, run_id, ahead, { skip: 0, limit: 1 })
  // The item of the cursor is on neither side.
  return { rows: rows.toReversed(), total: total + 1 + rest.total }
}

function find(
  ctx: Context,
  run_id: number,
  { q, reverse, ...filter }: LogFilter,
  page: { skip: number; limit: number },
): Promise<FoundEntries> {
  const window = { ...page, reverse }
  return q === undefined
    ? findEntries(ctx.db, ctx.organization_id, run_id, filter, window)
    : searchEntries(ctx.db, ctx.organization_id, run_id, { ...filter, q }, window)
}

/** Returns the JSON of a page before and after its entries. */
function aroundEntries(
  ctx: Context,
  run: RunHead,
  { status, result }: Head,
  numbers: Record<string, number>,
): [head: string, tail: string] {
  const head = JSON.stringify({
    id: run.id,
    organization_id: run.organization_id,
    status,
    created_at: run.created_at.toISOString(),
    web_url: traceUrl(ctx.base_url, run.id),
    result,
  })
  const tail = JSON.stringify({ total_logs: run.total_logs, ...numbers })
  return [`${head.slice(0, -1)},"metadata":${run.metadata ?? 'null'},"logs":[`, `],${tail.slice(1)}`]
}

/** Entries `from` … `to` of a run, in ascending or descending order; none if `to` is less. */
type Range = { run_id: number; from: number; to: number; reverse: boolean }

/**
 * Returns `head`, the entries as the inside of a JSON list, and `tail`. The caller has checked that the run
 * belongs to the organization and has all of these entries.
 */
async function pageBytes(
  ctx: Context,
  { run_id, from, to, reverse }: Range,
  head: string,
  tail: string,
): Promise<Buffer> {
  if (to < from) return listBytes(head, [], tail)
  const key = `${run_id} ${from} ${to} ${reverse}`
  const known = ctx.log_pages.get(key)
  if (known) return responseWith(known, head, tail)
  const bodies = await listEntries(ctx.db, ctx.organization_id, run_id, from, to)
  const shown = (reverse ? bodies.reverse() : bodies).map(body => shownEntry(body, ctx.base_url))
  const bytes = listBytes(head, shown, tail)
  // Fewer rows while the run is being deleted.
  if (bodies.length === to - from + 1) ctx.log_pages.put(key, () => pageOf(bytes, head, tail))
  return bytes
}
