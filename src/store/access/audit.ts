import type { AuditAction } from '../../contract/organizations/audit-actions.ts'
import { AuditEntry } from '../../contract/organizations/audit-log.ts'
import { type Db, only } from '../database.ts'
import { parseColumn } from '../json-column.ts'

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
  await db.query({
    name: 'insert_audit_entry',
    text: `insert into audit_entries (organization_id, user_id, token_id, action, target_type, target_id, detail, request_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      entry.organization_id,
      entry.user_id,
      entry.token_id,
      entry.action,
      entry.target_type,
      entry.target_id,
      JSON.stringify(entry.detail),
      entry.request_id,
    ],
  })
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
  skip: number,
  limit: number,
): Promise<{ rows: AuditRow[]; total: number }> {
  // Times are shown to the millisecond, so they are compared as they are shown.
  const where = `where organization_id = $1 and ($2::text[] is null or action = any($2)) and ($3::bigint[] is null or user_id = any($3))
    and ($4::text[] is null or target_type = any($4)) and ($5::timestamptz is null or date_trunc('milliseconds', created_at) > $5)
    and ($6::timestamptz is null or date_trunc('milliseconds', created_at) < $6)`
  const { action, user_id, target_type, created_after, created_before } = filter
  const values = [organization_id, action ?? null, user_id ?? null, target_type ?? null, created_after ?? null, created_before ?? null]
  const page = await db.query<Omit<AuditRow, 'detail'> & { detail: string }>({
    name: 'list_audit_entries',
    text: `select * from audit_entries ${where} order by id desc limit $7 offset $8`,
    values: [...values, limit, skip],
  })
  const count = await db.query<{ total: number }>({
    name: 'count_audit_entries',
    text: `select count(*) as total from audit_entries ${where}`,
    values,
  })
  const rows = page.rows.map(row => ({ ...row, detail: parseColumn(AuditEntry.shape.detail, row.detail) }))
  return { rows, total: only(count.rows).total }
}
