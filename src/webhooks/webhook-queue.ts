import { FAILURES_TO_REST } from '../core/webhooks/webhook-retries.ts'
import type { Queue } from '../queue/consumer.ts'
import { type ClaimedDelivery, claimDeliveries } from '../store/webhooks/webhook-deliveries.ts'
import { deliver } from './deliver.ts'
import type { WebhookServices } from './services.ts'

/** Attempts wait for sockets most of the time. */
const CONCURRENCY = 200

/** Messages to the webhooks of organizations and of runs. */
export const webhookQueue = (deps: WebhookServices): Queue<ClaimedDelivery> => ({
  name: 'webhook_deliveries',
  concurrency: CONCURRENCY,
  claim: limit => claimDeliveries(deps.db, limit, FAILURES_TO_REST),
  handle: (delivery, signal) => deliver(deps, delivery, signal),
})
