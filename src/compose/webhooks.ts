import type { Outgoing } from '../egress/connect-checked.ts'
import { createResolver } from '../egress/resolve.ts'
import { Deliverer } from '../queue/consumer.ts'
import type { WebhookDeps } from '../webhooks/settings.ts'
import { tidyWebhooks } from '../webhooks/clean-up.ts'
import { repeat } from '../core/polling.ts'
import { ownCredentials } from './own-credentials.ts'
import type { Parts } from './parts.ts'

const TIDY_MS = 60_000
const MOST_RESOLVERS = 1_000

/** How far this service itself goes out. Whose name server is slow holds up the names of their own organization alone. */
export function outgoingOf(
  { config }: Pick<Parts, 'config'>,
  allow_private = config.AGENTRUN_ALLOW_PRIVATE_EGRESS,
): (organization_id: number) => Outgoing {
  const resolvers = new Map<number, Outgoing['resolve']>()
  return organization_id => {
    const resolve = resolvers.get(organization_id) ?? createResolver()
    if (resolvers.size >= MOST_RESOLVERS) resolvers.clear()
    resolvers.set(organization_id, resolve)
    return { resolve, allow_private, upstream: config.AGENTRUN_EGRESS_PROXY ?? null }
  }
}

/** Sends webhooks from now on until disposed of: every process does, whatever its role. */
export function startWebhooks(parts: Parts, baseUrl: () => string): AsyncDisposable {
  const { db, sealer, log, telemetry, hub, config } = parts
  const deps: WebhookDeps = {
    ...{ db, sealer, log, telemetry },
    known_values: ownCredentials(parts),
    outgoing: outgoingOf(parts),
    base_url: baseUrl,
  }
  const stack = new AsyncDisposableStack()
  const deliverer = stack.use(new Deliverer(deps))
  stack.defer(hub.onWebhook(deliverer.wake))
  stack.defer(repeat(TIDY_MS, 'tidying up of webhooks', () => tidyWebhooks(deps, config.AGENTRUN_RETENTION_DAYS ?? null), log, 'at once'))
  deliverer.start()
  return stack
}
