import { z } from 'zod'
import { limits } from '../limits.ts'
import { text, web_address } from '../text.ts'
import { WebhookEventName, webhook_events } from './webhook-events.ts'

/** Returns why a URL cannot be that of a webhook, by its text alone; null when it can. */
function mistakeIn(url: string): string | null {
  const parsed = URL.parse(url)
  if (parsed === null || /\s/.test(url)) return 'must be a URL'
  if (!['https:', 'http:'].includes(parsed.protocol)) return 'must begin with https:// or http://'
  return parsed.username || parsed.password ? 'must not contain a user name or a password' : null
}

/** The URL of a webhook. The service checks that its address is not private. */
export const WebhookUrl = text(1, limits.webhook_url_chars)
  .superRefine((url, ctx) => {
    const message = mistakeIn(url)
    if (message !== null) ctx.addIssue({ code: 'custom', message })
  })
  .meta({ wire_rules: web_address })

export const webhookEvents = z
  .array(WebhookEventName)
  .min(1)
  .max(webhook_events.length)
  .nullish()
  .describe('The events to send; absent or null: all')
export const webhookSecret = (about: string) => text(1, limits.webhook_secret_chars).nullish().describe(about)

const WebhookTarget = z
  .object({
    url: WebhookUrl.describe('Address that receives the messages: https or http, no private address'),
    secret: webhookSecret('Signs messages, preferably `whsec_` and base64; never shown again'),
    events: webhookEvents,
  })
  .meta({ id: 'WebhookOverride' })

export const WebhookTargets = z.array(WebhookTarget).max(limits.webhooks)
export type WebhookTargets = z.output<typeof WebhookTargets>
