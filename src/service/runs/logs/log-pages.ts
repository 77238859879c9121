import { listEntries } from '../../../store/runs/log-entries.ts'
import { shownEntry } from '../../../trace/entry.ts'
import type { Context } from '../../context.ts'
import type { LogPage } from './log-page-cache.ts'

/**
 * Returns entries `from` … `to` of a run as the inside of a JSON list, in ascending or descending order. The caller has checked that the run
 * belongs to the organization and has all of these entries.
 */
export async function entriesText(ctx: Context, run_id: number, from: number, to: number, reverse: boolean): Promise<LogPage> {
  if (to < from) return { entries: Buffer.alloc(0) }
  const key = `${run_id} ${from} ${to} ${reverse}`
  const known = ctx.log_pages.get(key)
  if (known) return known
  const rows = await listEntries(ctx.db, ctx.organization_id, run_id, from, to)
  const page = { entries: Buffer.from((reverse ? rows.reverse() : rows).map(row => shownEntry(row.body, ctx.base_url)).join(',')) }
  // Fewer rows while the run is being deleted.
  if (rows.length === to - from + 1) ctx.log_pages.put(key, page)
  return page
}
