import { tryAcquireTick } from '../store/runs/ticks.ts'
import { deleteOldDeliveries, expireHeld } from '../store/webhooks/webhook-outcomes.ts'
import type { WebhookServices } from './services.ts'

/** How long the ledger keeps settled deliveries. */
export const LEDGER_DAYS = 30
const BATCH = 1_000
const TICK_SECONDS = 55
const late = 'the webhook was switched off until it was too late'

/**
 * Ends deliveries that waited too long for a disabled webhook, and deletes old ones. One of all processes
 * does it once a minute.
 */
export async function cleanUpDeliveries(
  { db }: Pick<WebhookServices, 'db'>,
  retention_days: number | null,
): Promise<void> {
  if (!(await tryAcquireTick(db, 'webhooks', TICK_SECONDS))) return
  while ((await expireHeld(db, late, BATCH)) === BATCH);
  const days = Math.min(LEDGER_DAYS, retention_days ?? LEDGER_DAYS)
  while ((await deleteOldDeliveries(db, days, BATCH)) === BATCH);
}
