import { startPolling } from '../core/polling.ts'
import type { Outgoing } from '../egress/connect-checked.ts'
import { createResolver } from '../egress/resolve.ts'
import { QueueConsumer } from '../queue/consumer.ts'
import { cleanUpDeliveries } from '../webhooks/clean-up.ts'
import type { WebhookServices } from '../webhooks/services.ts'
import { webhookQueue } from '../webhooks/webhook-queue.ts'
import { ownCredentials } from './own-credentials.ts'
import type { Parts } from './parts.ts'

const CLEANUP_INTERVAL_MS = 60_000
const MAX_RESOLVERS = 1_000

/**
 * Returns how the service itself makes requests. A slow name server delays the names of its own organization
 * only.
 */
export function outgoingOf(
  { config }: Pick<Parts, 'config'>,
  allow_private = config.AGENTRUN_ALLOW_PRIVATE_EGRESS,
): (organization_id: number) => Outgoing {
  const resolvers = new Map<number, Outgoing['resolve']>()
  return organization_id => {
    const resolve = resolvers.get(organization_id) ?? createResolver()
    if (resolvers.size >= MAX_RESOLVERS) resolvers.clear()
    resolvers.set(organization_id, resolve)
    return { resolve, allow_private, upstream: config.AGENTRUN_EGRESS_PROXY ?? null }
  }
}

/** Sends webhooks from now on until disposed of: every process does, whatever its role. */
export function startWebhooks(parts: Parts, baseUrl: () => string): AsyncDisposable {
  const { db, sealer, log, telemetry, hub, config } = parts
  const deps: WebhookServices = {
    db,
    sealer,
    log,
    telemetry,
    known_values: ownCredentials(parts),
    outgoing: outgoingOf(parts),
    base_url: baseUrl,
  }
  const stack = new AsyncDisposableStack()
  const consumer = stack.use(new QueueConsumer(webhookQueue(deps), log))
  stack.defer(hub.onWebhook(consumer.wake))
  const cleanUp = () => cleanUpDeliveries(deps, config.AGENTRUN_RETENTION_DAYS ?? null)
  stack.use(startPolling(CLEANUP_INTERVAL_MS, 'cleanup of webhook deliveries', cleanUp, log, 'at once'))
  return stack
}
