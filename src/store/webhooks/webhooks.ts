import type { WebhookEvent } from '../../contract/organizations/webhook-events.ts'
import type { Sealed } from '../../core/secrets/sealing.ts'
import type { Db } from '../database.ts'

/** The webhook of an organization. `previous_until`: until when the previous secret signs too. */
type WebhookRow = {
  url: string
  enabled: boolean
  has_secret: boolean
  events: WebhookEvent[] | null
  previous_until: Date | null
  failures: number
  rests_until: Date | null
  disabled_at: Date | null
  disabled_reason: string | null
}
const columns = `url, enabled, sealed_secret is not null as has_secret, events, case when previous_until > now() then previous_until end as previous_until,
  failures, case when rests_until > now() then rests_until end as rests_until, disabled_at, disabled_reason`

/** How long a replaced secret signs beside the new one. */
const PREVIOUS_SECONDS = 86_400

/** Returns the webhook of an organization without its secrets. */
export async function getWebhook(db: Db, organization_id: number): Promise<WebhookRow | undefined> {
  const { rows } = await db.query<WebhookRow>({
    name: 'get_webhook',
    text: `select ${columns} from webhooks where organization_id = $1`,
    values: [organization_id],
  })
  return rows[0]
}

/** Returns the webhook with its sealed secrets: the current one, and the previous one while it signs too. */
export async function getSealedWebhook(
  db: Db,
  organization_id: number,
): Promise<{ url: string; enabled: boolean; secrets: Sealed[] } | undefined> {
  type Row = { url: string; enabled: boolean; key_ids: (string | null)[]; secrets: (Buffer | null)[] }
  const { rows } = await db.query<Row>({
    name: 'get_sealed_webhook',
    text: `select url, enabled, array[key_id,
        case
          when previous_until > now() then previous_key_id end] as key_ids, array[sealed_secret, case when previous_until > now() then previous_sealed_secret end] as secrets
      from webhooks
      where organization_id = $1`,
    values: [organization_id],
  })
  const row = rows[0]
  if (!row) return undefined
  const secrets = row.secrets.flatMap((sealed, i) => {
    const key_id = row.key_ids[i]
    return sealed === null || key_id == null ? [] : [{ key_id, sealed }]
  })
  return { url: row.url, enabled: row.enabled, secrets }
}

/**
 * Creates or replaces it and clears its failures. A secret that is replaced continues to sign for a day.
 * @param secret undefined: as before, null: none, and none of before
 */
export async function saveWebhook(
  db: Db,
  webhook: {
    organization_id: number
    url: string
    enabled: boolean
    events: WebhookEvent[] | null
    user_id: number
    secret: Sealed | null | undefined
  },
): Promise<void> {
  await db.query({
    name: 'save_webhook',
    text: `insert into webhooks as w (organization_id, url, enabled, key_id, sealed_secret, updated_by, events)
      values ($1, $2, $3, $5, $6, $7, $8)
      on conflict (organization_id)
        do update set url = $2, enabled = $3, events = $8, key_id = case when $4 then $5 else w.key_id end,
          sealed_secret = case when $4 then $6 else w.sealed_secret end, updated_by = $7, updated_at = now(),
          previous_key_id = case
            when not $4 then w.previous_key_id
            when $6::bytea is not null then w.key_id
          end,
          previous_sealed_secret = case
            when not $4 then w.previous_sealed_secret
            when $6::bytea is not null then w.sealed_secret
          end,
          previous_until = case when not $4 then w.previous_until when $6::bytea is not null and w.sealed_secret is not null then now() + make_interval(
            secs => ${PREVIOUS_SECONDS}
          ) end, failures = 0, rests_until = null, disabled_at = null, disabled_reason = null`,
    values: [
      webhook.organization_id,
      webhook.url,
      webhook.enabled,
      webhook.secret !== undefined,
      webhook.secret?.key_id ?? null,
      webhook.secret?.sealed ?? null,
      webhook.user_id,
      webhook.events,
    ],
  })
}

/** Deletes the webhook of an organization. False: there was none. */
export async function deleteWebhook(db: Db, organization_id: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'delete_webhook',
    text: 'delete from webhooks where organization_id = $1',
    values: [organization_id],
  })
  return rowCount === 1
}
