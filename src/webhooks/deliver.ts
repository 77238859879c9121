import { setTimeout as delay } from 'node:timers/promises'
import { traceUrl } from '../core/runs/trace-url.ts'
import { openSecrets } from '../core/secrets/run-secrets.ts'
import { messageId, messageText } from '../core/webhooks/webhook-event.ts'
import { ownRecipient, type Recipient, runRecipient, webhookHeaders } from '../core/webhooks/webhook-request.ts'
import { type AttemptOutcome, verdictOf } from '../core/webhooks/webhook-retries.ts'
import { post } from '../egress/post.ts'
import { createBackgroundRedactor } from '../redaction/background-redactor.ts'
import { listSealedSecrets } from '../store/access/secrets.ts'
import type { ClaimedDelivery } from '../store/webhooks/webhook-deliveries.ts'
import { getSealedWebhook } from '../store/webhooks/webhooks.ts'
import type { WebhookDeps } from './settings.ts'

const SETTLE_TRIES = 5
const SETTLE_PAUSE_MS = 1_000

import { type AttemptEnd, settle } from './settle.ts'

/** One attempt, from claim to outcome. The attempt is in the ledger before it begins; its outcome is written if we are still the ones to do so. */
export async function deliver(deps: WebhookDeps, delivery: ClaimedDelivery, signal: AbortSignal): Promise<void> {
  const to = await recipientOf(deps, delivery)
  const end = 'url' in to ? await sent(deps, delivery, to, signal) : unsent(delivery, to)
  await settleInTime(deps, delivery, end)
  deps.telemetry.webhookAttempted({ outcome: end.verdict, ms: end.outcome.latency_ms })
}

/** Why there is nobody to send it to: for ever, or as long as the webhook is off. */
type Nobody = { why: string; for_ever: boolean }

async function recipientOf({ db, sealer }: WebhookDeps, delivery: ClaimedDelivery): Promise<Recipient | Nobody> {
  const { organization_id, url } = delivery
  const webhook = url === null ? await getSealedWebhook(db, organization_id) : null
  if (webhook === undefined) return { why: 'there is no webhook any more', for_ever: true }
  if (webhook?.enabled === false) return { why: 'the webhook is switched off', for_ever: false }
  const to =
    webhook === null
      ? runRecipient(sealer, organization_id, delivery.run_targets, url ?? '')
      : ownRecipient(sealer, organization_id, webhook)
  if (to === null) return { why: 'the run does not name this address any more', for_ever: true }
  return to.unreadable ? { why: 'its secret is sealed with another key of this service: set it again', for_ever: true } : to
}

function unsent({ url }: ClaimedDelivery, { why, for_ever }: Nobody): AttemptEnd {
  const outcome = { status: null, error: why, refused: for_ever, latency_ms: 0, answer: null, retry_after: null }
  return { url: url ?? '', outcome, verdict: verdictOf(outcome), says_nothing: !for_ever }
}

async function sent(deps: WebhookDeps, delivery: ClaimedDelivery, to: Recipient, signal: AbortSignal): Promise<AttemptEnd> {
  const outcome = await attempt(deps, delivery, to, signal)
  return { url: to.url, outcome, verdict: verdictOf(outcome), says_nothing: signal.aborted && outcome.status === null }
}

/** A database that is away for a moment costs no second message. Rejects when it stays away: the lease runs out, and the message comes again. */
async function settleInTime(deps: WebhookDeps, delivery: ClaimedDelivery, end: AttemptEnd): Promise<void> {
  for (let left = SETTLE_TRIES - 1; ; left--) {
    try {
      return await settle(deps, delivery, end)
    } catch (error) {
      if (left === 0) throw error
      await delay(SETTLE_PAUSE_MS)
    }
  }
}

async function attempt(
  deps: WebhookDeps,
  delivery: ClaimedDelivery,
  { url, secrets }: Recipient,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { organization_id, repository_id, run_id, type, created_at } = delivery
  const rows = await listSealedSecrets(deps.db, organization_id, repository_id)
  const redactor = createBackgroundRedactor([...openSecrets(deps.sealer, organization_id, rows).secrets, ...deps.known_values])
  const body = messageText(type, created_at, await redactor.json(delivery.body, 'known'), traceUrl(deps.base_url(), run_id))
  const headers = webhookHeaders(secrets, messageId(delivery.message_id), Date.now(), body)
  const outcome = await post(deps.outgoing(organization_id), { url, headers, body, signal })
  // A receiver may show what it was sent, and the ledger is read by people.
  const shown = createBackgroundRedactor([...secrets.map(value => ({ name: 'webhook_secret', value }))])
  return { ...outcome, answer: outcome.answer && (await shown.text(await redactor.text(outcome.answer))) }
}
