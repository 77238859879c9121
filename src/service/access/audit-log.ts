import type { AuditEntry, AuditQuery } from '../../contract/organizations/audit-log.ts'
import { pageNumbers, pageWindow } from '../../core/paging.ts'
import { type AuditRow, listAuditEntries } from '../../store/access/audit.ts'
import type { Context } from '../context.ts'

const entryObject = (row: AuditRow): AuditEntry => ({
  ...row,
  created_at: row.created_at.toISOString(),
})

/** Returns one page of administrative acts, newest first. */
export async function listAuditLog(ctx: Context, query: AuditQuery) {
  const window = pageWindow(query)
  const { rows, total } = await listAuditEntries(ctx.db, ctx.organization_id, query, window)
  return { items: rows.map(entryObject), total, ...pageNumbers(total, window) }
}
