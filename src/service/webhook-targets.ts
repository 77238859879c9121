import type { WebhookTargets } from '../contract/webhooks.ts'
import { isPrivateHost } from '../core/public-address.ts'
import { invalid } from '../core/service-error.ts'

/** The targets of a request as they are stored, secrets included; null: none of its own. 400 for a host that is private by its name. */
export function storedTargets(targets: WebhookTargets | null | undefined): string | null {
  if (targets == null) return null
  for (const [i, { url }] of targets.entries())
    if (isPrivateHost(new URL(url).hostname))
      throw invalid(['body', 'webhooks', i, 'url'], 'address not allowed: private and loopback addresses get no webhooks')
  return JSON.stringify(targets)
}
