import type { WebhookEvent } from '../../contract/organizations/webhook-events.ts'
import type {
  ListDeliveriesQuery,
  RedeliveredFailed,
  RedeliverFailedInput,
  WebhookDelivery,
  WebhookDeliveryDetail,
} from '../../contract/webhooks/webhook-deliveries.ts'
import type { WebhookDeletion, WebhookMessage } from '../../contract/webhooks/webhook-messages.ts'
import { parseJsonExactly } from '../../core/json/json-text.ts'
import { pageNumbers, pageWindow } from '../../core/paging.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import { ServiceError } from '../../core/service-error.ts'
import { messageId, messageText } from '../../core/webhooks/webhook-event.ts'
import { runRecipient } from '../../core/webhooks/webhook-request.ts'
import type { Db } from '../../store/database.ts'
import {
  type DeliveryRow,
  getDelivery,
  listAttempts,
  listDeliveries,
  requeueDelivery,
  requeueFailed,
  type WholeDeliveryRow,
} from '../../store/webhooks/webhook-ledger.ts'
import { holdEvents, restWebhook } from '../../store/webhooks/webhook-outcomes.ts'
import { getWebhook } from '../../store/webhooks/webhooks.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { secretsRedactor } from '../secrets/known-secrets.ts'

const ATTEMPTS = 100
const iso = (time: Date | null) => time?.toISOString() ?? null

/** Returns one page, newest first. */
export async function listWebhookDeliveries(ctx: Context, query: ListDeliveriesQuery) {
  const window = pageWindow(query)
  const { rows, total } = await listDeliveries(ctx.db, ctx.organization_id, query, window)
  return { items: rows.map(deliveryObject), total, ...pageNumbers(total, window) }
}

/** Returns a delivery with its message, as it would be sent now, and its attempts. Throws 404. */
export async function getWebhookDelivery(ctx: Context, delivery_id: number): Promise<WebhookDeliveryDetail> {
  const row = await requireDelivery(ctx, ctx.db, delivery_id)
  const redactor = await secretsRedactor(ctx.db, ctx, row.repository_id)
  const text = messageText(
    row.type,
    row.created_at,
    await redactor.json(row.body, 'known'),
    traceUrl(ctx.base_url, row.run_id),
  )
  const log = await listAttempts(ctx.db, ctx.organization_id, row.id, ATTEMPTS)
  return {
    ...deliveryObject(row),
    message: parseJsonExactly(text) as WebhookMessage | WebhookDeletion,
    log: log.map(attempt => ({
      ...attempt,
      url: attempt.url || null,
      started_at: attempt.started_at.toISOString(),
      finished_at: iso(attempt.finished_at),
    })),
  }
}

/**
 * Queues a delivery again. Throws 404, or 409 when the webhook was deleted or disabled, or the run no longer
 * names that address.
 */
export async function redeliverWebhook(ctx: Context, delivery_id: number): Promise<WebhookDelivery> {
  return ctx.db.transaction(async tx => {
    await holdEvents(tx, ctx.organization_id)
    const row = await requireDelivery(ctx, tx, delivery_id)
    await requireRecipient(ctx, tx, row)
    if (await requeueDelivery(tx, ctx.organization_id, row.id)) {
      if (row.url === null) await restWebhook(tx, ctx.organization_id, 0)
      await audit(
        tx,
        ctx,
        'webhook.redelivered',
        { type: 'webhook', id: 'agent-run' },
        { delivery_id: row.id, agent_run_id: row.run_id },
      )
    }
    return deliveryObject(await requireDelivery(ctx, tx, delivery_id))
  })
}

/** Queues failed deliveries again, the earliest first, and returns how many are left. */
export async function redeliverFailedWebhooks(
  ctx: Context,
  input: RedeliverFailedInput,
): Promise<RedeliveredFailed> {
  const { limit, since, until, type = null } = input
  const time = (text: string | null | undefined) => (text == null ? null : new Date(text))
  return ctx.db.transaction(async tx => {
    await holdEvents(tx, ctx.organization_id)
    const filter = { since: time(since), until: time(until), type }
    const { queued, own, left, without } = await requeueFailed(tx, ctx.organization_id, filter, limit)
    if (own > 0) await restWebhook(tx, ctx.organization_id, 0)
    if (queued > 0)
      await audit(
        tx,
        ctx,
        'webhook.redelivered',
        { type: 'webhook', id: 'agent-run' },
        { count: queued, since, until },
      )
    return { queued, remaining: left, without_recipient: without }
  })
}

async function requireDelivery(ctx: Context, db: Db, delivery_id: number): Promise<WholeDeliveryRow> {
  const row = await getDelivery(db, ctx.organization_id, delivery_id)
  if (!row) throw new ServiceError('not_found', 'Delivery not found.')
  return row
}

async function requireRecipient(ctx: Context, tx: Db, { url, webhooks }: WholeDeliveryRow): Promise<void> {
  if (url !== null && runRecipient(ctx.sealer, ctx.organization_id, webhooks, url) === null)
    throw new ServiceError('conflict', 'The run no longer names this address.')
  if (url === null && !(await getWebhook(tx, ctx.organization_id))?.enabled)
    throw new ServiceError(
      'conflict',
      'The webhook of the organization was deleted or disabled; set it first.',
    )
}

const deliveryObject = (row: DeliveryRow): WebhookDelivery => ({
  id: row.id,
  organization_id: row.organization_id,
  agent_run_id: row.run_id,
  event_seq: row.event_seq,
  type: row.type as WebhookEvent,
  message_id: messageId(row.message_id),
  url: row.url,
  state: row.state,
  error: row.error,
  attempts: row.attempts,
  last_status: row.last_status,
  last_latency_ms: row.last_latency_ms,
  next_attempt_at: iso(row.next_attempt_at),
  created_at: row.created_at.toISOString(),
  finished_at: iso(row.finished_at),
})
