import type { WebhookTargets } from '../../contract/webhooks/webhooks.ts'
import { isPrivateHost } from '../../core/network/public-address.ts'
import { invalid } from '../../core/service-error.ts'
import { runTargetContext, type StoredTarget } from '../../core/webhooks/webhook-secrets.ts'
import type { Context } from '../context.ts'

/** 400 for a host that is private by its name, or by the address that stands in its place, unless the operator allows such. */
export function requirePublicUrl(ctx: Pick<Context, 'allow_private_webhooks'>, url: string, loc: (string | number)[]): void {
  if (!ctx.allow_private_webhooks && isPrivateHost(new URL(url).hostname))
    throw invalid(loc, 'address not allowed: private and loopback addresses get no webhooks')
}

/**
 * The targets of a run as they are stored, JSON text: each with its `url` and, sealed for that URL in this organization, its secret.
 * Null: none of its own. 400 for a private host, and for an address that is there twice.
 */
export function storedTargets(ctx: Context, targets: WebhookTargets | null | undefined): string | null {
  if (targets == null) return null
  const stored = targets.map(({ url, secret, events }, i): StoredTarget => {
    const loc = ['body', 'webhooks', i, 'url']
    requirePublicUrl(ctx, url, loc)
    if (targets.findIndex(other => other.url === url) < i) throw invalid(loc, 'is there twice')
    const kept = { url, ...(events != null && { events }) }
    if (secret == null) return kept
    const { key_id, sealed } = ctx.sealer.seal(runTargetContext(ctx.organization_id, url), secret)
    return { ...kept, key_id, sealed: sealed.toString('base64') }
  })
  return JSON.stringify(stored)
}
