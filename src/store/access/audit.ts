import type { AuditAction } from '../../contract/organizations/audit-actions.ts'
import { AuditEntry } from '../../contract/organizations/audit-log.ts'
import type { Window } from '../../core/paging.ts'
import type { Db } from '../database.ts'
import { parseColumn } from '../json-column.ts'
import { conditionsOf, createdAfter, createdBefore, listPage } from '../list-page.ts'
import { insertRow } from '../statement.ts'

export type AuditRow = {
  id: number
  organization_id: number
  created_at: Date
  user_id: number | null
  token_id: number | null
  action: string
  target_type: string
  target_id: string | null
  detail: Record<string, unknown>
  request_id: string | null
}

type NewAuditEntry = Omit<AuditRow, 'id' | 'created_at' | 'action'> & { action: AuditAction }

/** Inserts an entry of the audit log. Callers use the transaction of the change that it records. */
export async function insertAuditEntry(db: Db, entry: NewAuditEntry): Promise<void> {
  await db.query(
    insertRow('audit_entries', {
      organization_id: entry.organization_id,
      user_id: entry.user_id,
      token_id: entry.token_id,
      action: entry.action,
      target_type: entry.target_type,
      target_id: entry.target_id,
      detail: JSON.stringify(entry.detail),
      request_id: entry.request_id,
    }),
  )
}

type AuditFilter = {
  action?: string[] | undefined
  user_id?: number[] | undefined
  target_type?: string[] | undefined
  created_after?: string | undefined
  created_before?: string | undefined
}

/** Returns one page, newest first. */
export async function listAuditEntries(
  db: Db,
  organization_id: number,
  filter: AuditFilter,
  window: Window,
): Promise<{ rows: AuditRow[]; total: number }> {
  const { add, oneOf, where, values } = conditionsOf('a.organization_id = $1', organization_id)
  oneOf('a.action', 'text', filter.action)
  oneOf('a.user_id', 'bigint', filter.user_id)
  oneOf('a.target_type', 'text', filter.target_type)
  add(p => createdAfter('a', 'audit_entries', p), filter.created_after)
  add(p => createdBefore('a', 'audit_entries', p), filter.created_before)
  const list = {
    columns: 'a.*',
    from: 'audit_entries a',
    where: where(),
    key: 'a.id',
    order: 'desc',
  } as const
  const page = await listPage<Omit<AuditRow, 'detail'> & { detail: string }>(db, list, values, window)
  return {
    ...page,
    rows: page.rows.map(row => ({ ...row, detail: parseColumn(AuditEntry.shape.detail, row.detail) })),
  }
}
