import { listEntries } from '../../store/runs/log-entries.ts'
import { shownEntry } from '../../trace/entry.ts'
import type { Context } from '../context.ts'

/** Texts of entries that were asked for before. Entries never change, so nothing in here is ever wrong. */
export type LogPages = { get(key: string): Buffer | undefined; put(key: string, page: Buffer): void }

/** Keeps the pages that were asked for last, up to `max_bytes`. */
export function createLogPages(max_bytes: number): LogPages {
  const pages = new Map<string, Buffer>()
  let bytes = 0
  return {
    get(key) {
      const page = pages.get(key)
      if (page === undefined) return undefined
      pages.delete(key)
      pages.set(key, page)
      return page
    },
    put(key, page) {
      if (page.length > max_bytes || pages.has(key)) return
      pages.set(key, page)
      bytes += page.length
      for (const [oldest, old] of pages) {
        if (bytes <= max_bytes) return
        pages.delete(oldest)
        bytes -= old.length
      }
    },
  }
}

/**
 * Entries `from` … `to` of a run as the inside of a JSON list, oldest first or last first. The caller has made sure that the run is the
 * organization's and that it has all of them.
 */
export async function entriesText(ctx: Context, run_id: number, from: number, to: number, reverse: boolean): Promise<Buffer> {
  if (to < from) return Buffer.alloc(0)
  const key = `${run_id} ${from} ${to} ${reverse}`
  const known = ctx.log_pages.get(key)
  if (known) return known
  const rows = await listEntries(ctx.db, ctx.organization_id, run_id, from, to)
  const page = Buffer.from((reverse ? rows.reverse() : rows).map(row => shownEntry(row.body, ctx.base_url)).join(','))
  // Fewer when the run is being deleted at this moment.
  if (rows.length === to - from + 1) ctx.log_pages.put(key, page)
  return page
}
