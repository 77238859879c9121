import { z } from 'zod'
import { limits } from '../limits.ts'
import { text } from '../text.ts'
import { WebhookEventName, webhook_events } from './webhook-messages.ts'

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

const events = z.array(WebhookEventName).min(1).max(webhook_events.length).nullish().describe('Which events are sent; absent or null: all')
const secret = (about: string) => text(1, limits.webhook_secret_chars).nullish().describe(about)

export const WebhookTarget = z
  .object({
    url: WebhookUrl.describe('Where it is sent: https or http, no private address'),
    secret: secret('Signs what is sent, best `whsec_` and base64; never shown again'),
    events,
  })
  .meta({ id: 'WebhookOverride' })

export const WebhookTargets = z.array(WebhookTarget).max(limits.webhooks)
export type WebhookTargets = z.output<typeof WebhookTargets>

export const WebhookConfigInput = z
  .object({
    url: WebhookUrl.describe('Where it is sent: https or http, no private address'),
    secret: secret(
      'Signs what is sent, best `whsec_` and base64; absent: as before, null: none. The one that it takes the place of signs beside it for a day',
    ),
    enabled: z.boolean().default(true).describe('Whether anything is sent; what waits meanwhile waits for a day'),
    events,
  })
  .meta({ id: 'WebhookConfigRequest', examples: [{ url: 'https://hooks.example.org/runs', secret: 'whsec_…' }] })
export type WebhookConfigInput = z.output<typeof WebhookConfigInput>

const time = z.iso.datetime()

export const WebhookConfig = z
  .object({
    url: z.string().nullable().describe('Where it is sent; null: nowhere'),
    enabled: z.boolean().describe('Whether anything is sent'),
    has_secret: z.boolean().describe('Whether what is sent is signed; the secret itself is never shown'),
    events: z.array(WebhookEventName).nullable().describe('Which events are sent; null: all'),
    previous_secret_until: time.nullable().describe('Until when the secret of before signs too; UTC, ISO 8601 with milliseconds'),
    failures: z.int().describe('Attempts that have failed since one got through'),
    rests_until: time.nullable().describe('Until when nothing is sent because of them; UTC, ISO 8601 with milliseconds'),
    disabled_at: time.nullable().describe('When the service switched it off; UTC, ISO 8601 with milliseconds'),
    disabled_reason: z.string().nullable().describe('Why it did; setting the webhook again switches it on'),
  })
  .meta({
    id: 'WebhookConfigResponse',
    examples: [
      {
        ...{ url: 'https://hooks.example.org/runs', enabled: true, has_secret: true, events: null, previous_secret_until: null },
        ...{ failures: 0, rests_until: null, disabled_at: null, disabled_reason: null },
      },
    ],
  })
export type WebhookConfig = z.output<typeof WebhookConfig>

export const WebhookTestInput = z
  .object({ url: WebhookUrl.describe('Where the test is sent') })
  .meta({ id: 'WebhookTestRequest', examples: [{ url: 'https://hooks.example.org/runs' }] })
export const WebhookTest = z
  .object({
    delivered: z.boolean().describe('Whether the address took it'),
    status: z.int().nullable().describe('What it answered; null: nothing'),
    error: z.string().nullable().describe('Why it is not delivered'),
    latency_ms: z.int().describe('Milliseconds until that was known'),
    signed: z.boolean().describe("Whether it was signed: only the organization's own webhook is sent what its secret signs"),
  })
  .meta({ id: 'WebhookTestResponse', examples: [{ delivered: true, status: 204, error: null, latency_ms: 87, signed: true }] })
export type WebhookTest = z.output<typeof WebhookTest>
