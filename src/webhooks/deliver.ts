import { pause } from '../core/pause.ts'
import { traceUrl } from '../core/runs/trace-url.ts'
import { openSecrets } from '../core/secrets/run-secrets.ts'
import { messageId, messageText } from '../core/webhooks/webhook-event.ts'
import {
  ownRecipient,
  type Recipient,
  runRecipient,
  webhookHeaders,
} from '../core/webhooks/webhook-request.ts'
import { type AttemptOutcome, verdictOf } from '../core/webhooks/webhook-retries.ts'
import { post } from '../egress/post.ts'
import { createBackgroundRedactor } from '../redaction/background-redactor.ts'
import { listSealedSecrets } from '../store/access/secrets.ts'
import type { ClaimedDelivery } from '../store/webhooks/webhook-deliveries.ts'
import { getSealedWebhook } from '../store/webhooks/webhooks.ts'
import type { WebhookServices } from './services.ts'
import { type AttemptEnd, settle } from './settle.ts'

const MAX_SETTLE_ATTEMPTS = 5
const SETTLE_RETRY_MS = 1_000

/** Makes one attempt and records its outcome, unless another process has claimed the delivery meanwhile. */
export async function deliver(
  deps: WebhookServices,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<void> {
  const to = await recipientOf(deps, delivery)
  const end = 'url' in to ? await sent(deps, delivery, to, signal) : notSent(delivery, to)
  await settleWithRetries(deps, delivery, end)
  deps.telemetry.webhookAttempted({ outcome: end.verdict, ms: end.outcome.latency_ms })
}

/** Why there is no recipient: permanently, or while the webhook is disabled. */
type NoRecipient = { reason: string; permanent: boolean }

async function recipientOf(
  { db, sealer }: WebhookServices,
  delivery: ClaimedDelivery,
): Promise<Recipient | NoRecipient> {
  const { organization_id, url } = delivery
  const webhook = url === null ? await getSealedWebhook(db, organization_id) : null
  if (webhook === undefined) return { reason: 'there is no longer a webhook', permanent: true }
  if (webhook?.enabled === false) return { reason: 'the webhook is switched off', permanent: false }
  const to =
    webhook === null
      ? runRecipient(sealer, organization_id, delivery.run_targets, url ?? '')
      : ownRecipient(sealer, organization_id, webhook)
  if (to === null) return { reason: 'the run no longer names this address', permanent: true }
  return to.unreadable
    ? { reason: 'its secret is sealed with another key of this service: set it again', permanent: true }
    : to
}

function notSent({ url }: ClaimedDelivery, { reason, permanent }: NoRecipient): AttemptEnd {
  const outcome = {
    status: null,
    error: reason,
    refused: permanent,
    latency_ms: 0,
    answer: null,
    retry_after: null,
  }
  return { url: url ?? '', outcome, verdict: verdictOf(outcome), inconclusive: !permanent }
}

async function sent(
  deps: WebhookServices,
  delivery: ClaimedDelivery,
  to: Recipient,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  const outcome = await attempt(deps, delivery, to, signal)
  return {
    url: to.url,
    outcome,
    verdict: verdictOf(outcome),
    inconclusive: signal.aborted && outcome.status === null,
  }
}

/**
 * Retries a short outage of the database, so that it costs no second message. Rejects in a longer one: the
 * message is sent again when the lease ends.
 */
async function settleWithRetries(
  deps: WebhookServices,
  delivery: ClaimedDelivery,
  end: AttemptEnd,
): Promise<void> {
  for (let left = MAX_SETTLE_ATTEMPTS - 1; ; left--) {
    try {
      return await settle(deps, delivery, end)
    } catch (error) {
      if (left === 0) throw error
      await pause(SETTLE_RETRY_MS)
    }
  }
}

async function attempt(
  deps: WebhookServices,
  delivery: ClaimedDelivery,
  { url, secrets }: Recipient,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { organization_id, repository_id, run_id, type, created_at } = delivery
  const rows = await listSealedSecrets(deps.db, organization_id, repository_id)
  const redactor = createBackgroundRedactor([
    ...openSecrets(deps.sealer, organization_id, rows).secrets,
    ...deps.known_values,
  ])
  const body = messageText(
    type,
    created_at,
    await redactor.json(delivery.body, 'known'),
    traceUrl(deps.base_url(), run_id),
  )
  const headers = webhookHeaders(secrets, messageId(delivery.message_id), Date.now(), body)
  const outcome = await post(deps.outgoing(organization_id), { url, headers, body, signal })
  // A receiver may return what it was sent, and people read the ledger.
  const redactsSecrets = createBackgroundRedactor([
    ...secrets.map(value => ({ name: 'webhook_secret', value })),
  ])
  return {
    ...outcome,
    answer: outcome.answer && (await redactsSecrets.text(await redactor.text(outcome.answer))),
  }
}
