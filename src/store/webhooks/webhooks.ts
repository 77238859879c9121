import type { WebhookEvent } from '../../contract/organizations/webhook-events.ts'
import type { SealedValue } from '../../core/secrets/sealing.ts'
import { changedOne, type Db, firstRow } from '../database.ts'
import { insertRow, replacing } from '../statement.ts'

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
export function getWebhook(db: Db, organization_id: number): Promise<WebhookRow | undefined> {
  return firstRow<WebhookRow>(db, {
    name: 'get_webhook',
    text: `select ${columns} from webhooks where organization_id = $1`,
    values: [organization_id],
  })
}

/** Returns the webhook with its sealed secrets: the current one, and the previous one while it signs too. */
export async function getSealedWebhook(
  db: Db,
  organization_id: number,
): Promise<{ url: string; enabled: boolean; secrets: SealedValue[] } | undefined> {
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

/** Returns SQL: a replacement. A changed secret leaves the previous one for a time. */
const replacingSecret = (changes: string) => `on conflict (organization_id)
  do update set ${replacing('url', 'enabled', 'events', 'updated_by')}, updated_at = now(),
    key_id = case when ${changes} then excluded.key_id else w.key_id end,
    sealed_secret = case when ${changes} then excluded.sealed_secret else w.sealed_secret end,
    previous_key_id = case
      when not ${changes} then w.previous_key_id
      when excluded.sealed_secret is not null then w.key_id
    end,
    previous_sealed_secret = case
      when not ${changes} then w.previous_sealed_secret
      when excluded.sealed_secret is not null then w.sealed_secret
    end,
    previous_until = case
      when not ${changes} then w.previous_until
      when excluded.sealed_secret is not null and w.sealed_secret is not null
        then now() + make_interval(secs => ${PREVIOUS_SECONDS})
    end,
    failures = 0, rests_until = null, disabled_at = null, disabled_reason = null`

/**
 * Creates or replaces it and clears its failures. A secret that is replaced continues to sign for a day.
 * @param secret undefined: as before; null: no secret, also no previous one
 */
export async function saveWebhook(
  db: Db,
  webhook: {
    organization_id: number
    url: string
    enabled: boolean
    events: WebhookEvent[] | null
    user_id: number
    secret: SealedValue | null | undefined
  },
): Promise<void> {
  await db.query(
    insertRow(
      'webhooks',
      {
        organization_id: webhook.organization_id,
        url: webhook.url,
        enabled: webhook.enabled,
        events: webhook.events,
        key_id: webhook.secret?.key_id ?? null,
        sealed_secret: webhook.secret?.sealed ?? null,
        updated_by: webhook.user_id,
      },
      { as: 'w', end: bind => replacingSecret(bind(webhook.secret !== undefined)) },
    ),
  )
}

/** Deletes the webhook of an organization. False: there was none. */
export function deleteWebhook(db: Db, organization_id: number): Promise<boolean> {
  return changedOne(db, {
    name: 'delete_webhook',
    text: 'delete from webhooks where organization_id = $1',
    values: [organization_id],
  })
}
