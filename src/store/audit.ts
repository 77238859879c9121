import type { Db } from './database.ts'

export type AuditRow = {
  id: number
  organization_id: number
  created_at: Date
  user_id: number | null
  token_id: number | null
  action: string
  target_type: string
  target_id: string | null
  /** JSON text. */
  detail: string
  request_id: string | null
}

export async function insertAuditEntry(db: Db, entry: Omit<AuditRow, 'id' | 'created_at'>): Promise<void> {
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
      entry.detail,
      entry.request_id,
    ],
  })
}
