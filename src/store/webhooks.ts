import type { Sealed } from '../core/sealing.ts'
import type { Db } from './database.ts'

/** Where an organization's runs are reported. */
export type WebhookRow = { url: string; enabled: boolean; has_secret: boolean }
const columns = 'url, enabled, sealed_secret is not null as has_secret'

export async function getWebhook(db: Db, organization_id: number): Promise<WebhookRow | undefined> {
  const { rows } = await db.query<WebhookRow>({
    name: 'get_webhook',
    text: `select ${columns} from webhooks where organization_id = $1`,
    values: [organization_id],
  })
  return rows[0]
}

/** @param secret undefined: as before, null: none. */
export async function saveWebhook(
  db: Db,
  webhook: { organization_id: number; url: string; enabled: boolean; user_id: number; secret: Sealed | null | undefined },
): Promise<void> {
  await db.query({
    name: 'save_webhook',
    text: `insert into webhooks as w (organization_id, url, enabled, key_id, sealed_secret, updated_by) values ($1, $2, $3, $5, $6, $7)
      on conflict (organization_id) do update set url = $2, enabled = $3, key_id = case when $4 then $5 else w.key_id end,
        sealed_secret = case when $4 then $6 else w.sealed_secret end, updated_by = $7, updated_at = now()`,
    values: [
      webhook.organization_id,
      webhook.url,
      webhook.enabled,
      webhook.secret !== undefined,
      webhook.secret?.key_id ?? null,
      webhook.secret?.sealed ?? null,
      webhook.user_id,
    ],
  })
}

/** False: there was none. */
export async function deleteWebhook(db: Db, organization_id: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'delete_webhook',
    text: 'delete from webhooks where organization_id = $1',
    values: [organization_id],
  })
  return rowCount === 1
}
