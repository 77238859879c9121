import {
  type AttemptOutcome,
  FAILURES_TO_REST,
  GIVE_UP_SECONDS,
  restSeconds,
  retrySeconds,
  type Verdict,
} from '../core/webhooks/webhook-retries.ts'
import { insertAuditEntry } from '../store/access/audit.ts'
import type { Db } from '../store/database.ts'
import type { ClaimedDelivery } from '../store/webhooks/webhook-deliveries.ts'
import {
  disableWebhook,
  holdEvents,
  recordFailure,
  recordSuccess,
  restWebhook,
  type Settlement,
  scheduleNext,
  settleDelivery,
  wakeDeliveries,
} from '../store/webhooks/webhook-outcomes.ts'
import type { WebhookServices } from './services.ts'

/**
 * `inconclusive`: it proves nothing about the receiver, because this process aborted it or did not send it.
 */
export type AttemptEnd = { url: string; outcome: AttemptOutcome; verdict: Verdict; inconclusive: boolean }

const gone = 'the receiver responded with 410: it is gone'
const dead = `nothing could be delivered for ${GIVE_UP_SECONDS / 3_600} hours`

/** Records the outcome of an attempt and its consequences in one transaction. */
export async function settle(
  deps: WebhookServices,
  delivery: ClaimedDelivery,
  end: AttemptEnd,
): Promise<void> {
  const { organization_id, run_id, url } = delivery
  const disabled = await deps.db.transaction(async tx => {
    await holdEvents(tx, organization_id)
    const state = await settleDelivery(tx, delivery, settlementOf(delivery, end))
    if (state === undefined) return null
    if (state !== 'pending') await scheduleNext(tx, organization_id, run_id, url)
    return url === null && !end.inconclusive
      ? updateWebhookState(tx, delivery, end, state === 'failed')
      : null
  })
  if (disabled === null) return
  deps.log('warn', 'a webhook was switched off', {
    organization_id,
    reason: disabled.reason,
    host: disabled.host,
  })
  deps.telemetry.webhookDisabled()
}

function settlementOf(
  delivery: ClaimedDelivery,
  { url, outcome, verdict, inconclusive }: AttemptEnd,
): Settlement {
  const { status, error, latency_ms, answer } = outcome
  const to = verdict === 'delivered' ? 'delivered' : verdict === 'failed' ? 'again' : 'failed'
  const seconds = inconclusive ? 0 : retrySeconds(delivery.tries, outcome.retry_after, Math.random())
  return { to, seconds, url, status, error, latency_ms, answer }
}

/**
 * Updates the state of the organization's webhook after an attempt. Returns why it was disabled; null: it was
 * not.
 */
async function updateWebhookState(
  tx: Db,
  { organization_id, created_at }: ClaimedDelivery,
  { verdict }: AttemptEnd,
  given_up: boolean,
): Promise<{ reason: string; host: string } | null> {
  if (verdict === 'delivered') {
    const failures = await recordSuccess(tx, organization_id)
    if (failures >= FAILURES_TO_REST) await wakeDeliveries(tx, organization_id)
    return null
  }
  const rest = restSeconds(await recordFailure(tx, organization_id))
  if (rest !== null) await restWebhook(tx, organization_id, rest)
  if (verdict !== 'gone' && !(verdict === 'failed' && given_up)) return null
  const reason = verdict === 'gone' ? gone : dead
  const url = await disableWebhook(tx, organization_id, reason, verdict === 'gone' ? null : created_at)
  if (url === undefined) return null
  const { host } = new URL(url)
  await insertAuditEntry(tx, {
    organization_id,
    user_id: null,
    token_id: null,
    request_id: null,
    action: 'webhook.disabled',
    target_type: 'webhook',
    target_id: 'agent-run',
    detail: { host, reason },
  })
  return { reason, host }
}
