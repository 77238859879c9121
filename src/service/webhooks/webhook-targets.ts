import type { WebhookTargets } from '../../contract/organizations/webhook-targets.ts'
import { isPrivateHost } from '../../core/network/public-address.ts'
import { invalid } from '../../core/service-error.ts'
import { runTargetContext, type StoredTarget } from '../../core/webhooks/webhook-secrets.ts'
import type { Context } from '../context.ts'

/** Throws 400 for a private host name or address, unless the operator allows private webhooks. */
export function requirePublicUrl(
  ctx: Pick<Context, 'allow_private_webhooks'>,
  url: string,
  loc: (string | number)[],
): void {
  if (!ctx.allow_private_webhooks && isPrivateHost(new URL(url).hostname))
    throw invalid(loc, 'address not allowed: webhooks are not sent to private and loopback addresses')
}

/**
 * Returns the targets of a run as stored JSON text: each with its `url` and, sealed for that URL in this
 * organization, its secret. Null: no targets of its own. Throws 400 for a private host, and for a duplicate
 * address.
 */
export function storedTargets(ctx: Context, targets: WebhookTargets | null | undefined): string | null {
  if (targets == null) return null
  const stored = targets.map(({ url, secret, events }, i): StoredTarget => {
    const loc = ['body', 'webhooks', i, 'url']
    requirePublicUrl(ctx, url, loc)
    if (targets.findIndex(other => other.url === url) < i) throw invalid(loc, 'is a duplicate')
    const kept = { url, ...(events != null && { events }) }
    if (secret == null) return kept
    const { key_id, sealed } = ctx.sealer.seal(runTargetContext(ctx.organization_id, url), secret)
    return { ...kept, key_id, sealed: sealed.toString('base64') }
  })
  return JSON.stringify(stored)
}
