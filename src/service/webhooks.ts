import type { WebhookConfigInput } from '../contract/webhooks.ts'
import { ServiceError } from '../core/service-error.ts'
import type { Db } from '../store/database.ts'
import { deleteWebhook as deleteWebhookRow, getWebhook as getWebhookRow, saveWebhook } from '../store/webhooks.ts'
import { audit } from './audit.ts'
import type { Context } from './context.ts'
import { requirePublicUrl } from './webhook-targets.ts'

/** Where the organization's runs are reported; `url` null: nowhere. */
export async function getWebhook(ctx: Context, db: Db = ctx.db) {
  return (await getWebhookRow(db, ctx.organization_id)) ?? { url: null, enabled: false, has_secret: false }
}

/** A secret that is absent stays, null takes it away. 400 for a private address. */
export async function setWebhook(ctx: Context, input: WebhookConfigInput) {
  requirePublicUrl(input.url, ['body', 'url'])
  const place = { organization_id: ctx.organization_id, scope: 'webhook', name: 'agent-run' }
  const secret = input.secret == null ? input.secret : ctx.sealer.seal(place, input.secret)
  return ctx.db.transaction(async tx => {
    const { url, enabled } = input
    await saveWebhook(tx, { organization_id: ctx.organization_id, url, enabled, secret, user_id: ctx.actor.user_id })
    const webhook = await getWebhook(ctx, tx)
    const said = { host: new URL(url).host, enabled, has_secret: webhook.has_secret }
    await audit(tx, ctx, 'webhook.set', { type: 'webhook', id: 'agent-run' }, said)
    return webhook
  })
}

/** Answers that there is none any more, whether there was one or not. */
export async function deleteWebhook(ctx: Context) {
  return ctx.db.transaction(async tx => {
    if (await deleteWebhookRow(tx, ctx.organization_id)) await audit(tx, ctx, 'webhook.deleted', { type: 'webhook', id: 'agent-run' })
    return getWebhook(ctx, tx)
  })
}

/** 501: nothing is delivered in this version. 400 for a private address all the same. */
export async function testWebhook(_ctx: Context, url: string): Promise<never> {
  requirePublicUrl(url, ['body', 'url'])
  throw new ServiceError('not_available', 'Webhooks are kept in this version, and not delivered yet.')
}
