import { randomUUID } from 'node:crypto'
import type { WebhookConfig, WebhookConfigInput, WebhookTest } from '../../contract/webhooks/webhooks.ts'
import { messageId } from '../../core/webhooks/webhook-event.ts'
import { ownRecipient, webhookHeaders } from '../../core/webhooks/webhook-request.ts'
import { verdictOf } from '../../core/webhooks/webhook-retries.ts'
import { webhookContext } from '../../core/webhooks/webhook-secrets.ts'
import type { Db } from '../../store/database.ts'
import { notifyWebhook } from '../../store/notify.ts'
import { dropDeliveries, holdEvents, wakeDeliveries } from '../../store/webhooks/webhook-outcomes.ts'
import {
  deleteWebhook as deleteWebhookRow,
  getSealedWebhook,
  getWebhook as getWebhookRow,
  saveWebhook,
} from '../../store/webhooks/webhooks.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { requirePublicUrl } from './webhook-targets.ts'

const iso = (time: Date | null | undefined) => time?.toISOString() ?? null

/** Returns the webhook of the organization's runs; `url` is null when there is none. */
export async function getWebhook(ctx: Context, db: Db = ctx.db): Promise<WebhookConfig> {
  const row = await getWebhookRow(db, ctx.organization_id)
  return {
    url: row?.url ?? null,
    enabled: row?.enabled ?? false,
    has_secret: row?.has_secret ?? false,
    events: row?.events ?? null,
    previous_secret_until: iso(row?.previous_until),
    failures: row?.failures ?? 0,
    rests_until: iso(row?.rests_until),
    disabled_at: iso(row?.disabled_at),
    disabled_reason: row?.disabled_reason ?? null,
  }
}

/**
 * Sets the webhook. An absent secret stays, null removes it, and a replaced one signs for another day.
 * Waiting deliveries are sent at once. Throws 400 for a private address.
 */
export async function setWebhook(ctx: Context, input: WebhookConfigInput) {
  requirePublicUrl(ctx, input.url, ['body', 'url'])
  const secret =
    input.secret == null ? input.secret : ctx.sealer.seal(webhookContext(ctx.organization_id), input.secret)
  return ctx.db.transaction(async tx => {
    const { url, enabled } = input
    await holdEvents(tx, ctx.organization_id)
    await saveWebhook(tx, {
      organization_id: ctx.organization_id,
      url,
      enabled,
      secret,
      user_id: ctx.actor.user_id,
      events: input.events ?? null,
    })
    if (enabled) {
      await wakeDeliveries(tx, ctx.organization_id)
      await notifyWebhook(tx)
    }
    const webhook = await getWebhook(ctx, tx)
    const detail = { host: new URL(url).host, enabled, has_secret: webhook.has_secret }
    await audit(tx, ctx, 'webhook.set', { type: 'webhook', id: 'agent-run' }, detail)
    return webhook
  })
}

/** Deletes the webhook, if there is one, and drops its waiting deliveries. */
export async function deleteWebhook(ctx: Context) {
  return ctx.db.transaction(async tx => {
    await holdEvents(tx, ctx.organization_id)
    if (await deleteWebhookRow(tx, ctx.organization_id)) {
      await dropDeliveries(tx, ctx.organization_id, 'the webhook was deleted')
      await audit(tx, ctx, 'webhook.deleted', { type: 'webhook', id: 'agent-run' })
    }
    return getWebhook(ctx, tx)
  })
}

/**
 * Sends a test now, signed when the address is the organization's own. The outcome is data. Throws 400 for a
 * private address.
 */
export async function testWebhook(ctx: Context, url: string): Promise<WebhookTest> {
  requirePublicUrl(ctx, url, ['body', 'url'])
  await audit(
    ctx.db,
    ctx,
    'webhook.tested',
    { type: 'webhook', id: 'agent-run' },
    { host: new URL(url).host },
  )
  const own = await getSealedWebhook(ctx.db, ctx.organization_id)
  const secrets = own?.url === url ? ownRecipient(ctx.sealer, ctx.organization_id, own).secrets : []
  const now = new Date()
  const body = JSON.stringify({
    type: 'webhook.test',
    timestamp: now.toISOString(),
    data: { organization_id: ctx.organization_id },
  })
  const headers = webhookHeaders(secrets, messageId(randomUUID()), now.getTime(), body)
  const outcome = await ctx.postWebhook(ctx.organization_id, { url, headers, body })
  const { status, error, latency_ms } = outcome
  return {
    delivered: verdictOf(outcome) === 'delivered',
    status,
    error,
    latency_ms,
    signed: secrets.length > 0,
  }
}
