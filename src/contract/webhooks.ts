import { z } from 'zod'
import { limits } from './limits.ts'
import { text } from './text.ts'

/** Why an address cannot be that of a webhook, by its text alone; null when it can. */
function mistakeIn(url: string): string | null {
  const parsed = URL.parse(url)
  if (parsed === null || /\s/.test(url)) return 'must be a URL'
  if (!['https:', 'http:'].includes(parsed.protocol)) return 'must begin with https:// or http://'
  return parsed.username || parsed.password ? 'must not contain a user name or a password' : null
}

/** Where a webhook is sent. That it is no private address is checked by the service. */
export const WebhookUrl = text(1, limits.webhook_url_chars)
  .superRefine((url, ctx) => {
    const message = mistakeIn(url)
    if (message !== null) ctx.addIssue({ code: 'custom', message })
  })
  .meta({ wire: { type: 'string', format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?:', maxLength: limits.webhook_url_chars } })

export const WebhookTarget = z
  .object({
    url: WebhookUrl.describe('Where it is sent: https or http, no private address'),
    secret: text(1, limits.webhook_secret_chars).nullish().describe('Signs what is sent; never shown again'),
  })
  .meta({ id: 'WebhookOverride' })

export const WebhookTargets = z.array(WebhookTarget).max(limits.webhooks)
export type WebhookTargets = z.output<typeof WebhookTargets>

export const WebhookConfigInput = z
  .object({
    url: WebhookUrl.describe('Where it is sent: https or http, no private address'),
    secret: text(1, limits.webhook_secret_chars).nullish().describe('Signs what is sent; absent: as before, null: none'),
    enabled: z.boolean().default(true).describe('Whether anything is sent'),
  })
  .meta({ id: 'WebhookConfigRequest', examples: [{ url: 'https://hooks.example.org/runs', secret: 'whsec_…' }] })
export type WebhookConfigInput = z.output<typeof WebhookConfigInput>

export const WebhookConfig = z
  .object({
    url: z.string().nullable().describe('Where it is sent; null: nowhere'),
    enabled: z.boolean().describe('Whether anything is sent'),
    has_secret: z.boolean().describe('Whether what is sent is signed; the secret itself is never shown'),
  })
  .meta({ id: 'WebhookConfigResponse', examples: [{ url: 'https://hooks.example.org/runs', enabled: true, has_secret: true }] })

export const WebhookTestInput = z
  .object({ url: WebhookUrl.describe('Where the test is sent') })
  .meta({ id: 'WebhookTestRequest', examples: [{ url: 'https://hooks.example.org/runs' }] })
export const WebhookTest = z
  .object({ delivered: z.boolean().describe('Whether the address took it') })
  .meta({ id: 'WebhookTestResponse', examples: [{ delivered: true }] })
