import type { WebhookTargets } from '../contract/webhooks.ts'
import { isPrivateHost } from '../core/public-address.ts'
import { invalid } from '../core/service-error.ts'
import type { Context } from './context.ts'

/** 400 for a host that is private by its name, or by the address that stands in its place. */
export function requirePublicUrl(url: string, loc: (string | number)[]): void {
  if (isPrivateHost(new URL(url).hostname)) throw invalid(loc, 'address not allowed: private and loopback addresses get no webhooks')
}

/**
 * The targets of a run as they are stored, JSON text: each with its `url` and, sealed for that URL in this organization, its secret.
 * Null: none of its own. 400 for a private host.
 */
export function storedTargets(ctx: Context, targets: WebhookTargets | null | undefined): string | null {
  if (targets == null) return null
  const stored = targets.map(({ url, secret }, i) => {
    requirePublicUrl(url, ['body', 'webhooks', i, 'url'])
    if (secret == null) return { url }
    const { key_id, sealed } = ctx.sealer.seal({ organization_id: ctx.organization_id, scope: 'run webhook', name: url }, secret)
    return { url, key_id, sealed: sealed.toString('base64') }
  })
  return JSON.stringify(stored)
}
