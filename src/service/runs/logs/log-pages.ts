import { shownEntry } from '../../../core/runs/trace/stored-entry.ts'
import { listEntries } from '../../../store/runs/log-entries.ts'
import type { Context } from '../../context.ts'
import { listBytes, pageOf, responseWith } from './log-page-cache.ts'

/** Entries `from` … `to` of a run, in ascending or descending order; none if `to` is less. */
type Range = { run_id: number; from: number; to: number; reverse: boolean }

/**
 * Returns `head`, the entries as the inside of a JSON list, and `tail`. The caller has checked that the run
 * belongs to the organization and has all of these entries.
 */
export async function pageBytes(
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
