import { tryAcquireTick } from '../store/runs/ticks.ts'
import { deleteOldDeliveries, expireHeld } from '../store/webhooks/webhook-outcomes.ts'
import type { WebhookDeps } from './settings.ts'

/** For how long the ledger says what became of a delivery. */
export const LEDGER_DAYS = 30
const BATCH = 1_000
const TURN_SECONDS = 55
const late = 'the webhook was switched off until it was too late'

/** Ends what waited too long for a webhook that is switched off, and forgets what was over long ago. Of all processes one does it a minute. */
export async function tidyWebhooks({ db }: Pick<WebhookDeps, 'db'>, retention_days: number | null): Promise<void> {
  if (!(await tryAcquireTick(db, 'webhooks', TURN_SECONDS))) return
  while ((await expireHeld(db, late, BATCH)) === BATCH);
  const days = Math.min(LEDGER_DAYS, retention_days ?? LEDGER_DAYS)
  while ((await deleteOldDeliveries(db, days, BATCH)) === BATCH);
}
