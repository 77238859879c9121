import { z } from 'zod'
import { WebhookEventName } from '../organizations/webhook-events.ts'
import { WebhookUrl, webhookEvents, webhookSecret } from '../organizations/webhook-targets.ts'

export const WebhookConfigInput = z
  .object({
    url: WebhookUrl.describe('Address that receives the messages: https or http, no private address'),
    secret: webhookSecret(
      'Signs messages, preferably `whsec_` and base64; absent: unchanged; null removes it. The previous secret signs as well for a day',
    ),
    enabled: z.boolean().default(true).describe('Whether messages are sent; waiting ones are kept for a day'),
    events: webhookEvents,
  })
  .meta({
    id: 'WebhookConfigRequest',
    examples: [{ url: 'https://hooks.example.org/runs', secret: 'whsec_…' }],
  })
export type WebhookConfigInput = z.output<typeof WebhookConfigInput>

const time = z.iso.datetime()

export const WebhookConfig = z
  .object({
    url: z.string().nullable().describe('Address that receives the messages, or null'),
    enabled: z.boolean().describe('Whether anything is sent'),
    has_secret: z.boolean().describe('Whether messages are signed; the secret itself is never shown'),
    events: z.array(WebhookEventName).nullable().describe('The events that are sent; null: all'),
    previous_secret_until: time
      .nullable()
      .describe('End of the time in which the previous secret also signs; UTC, ISO 8601 with milliseconds'),
    failures: z.int().describe('Attempts that have failed since the last success'),
    rests_until: time
      .nullable()
      .describe('End of the pause in sending that they caused; UTC, ISO 8601 with milliseconds'),
    disabled_at: time
      .nullable()
      .describe('Time at which the service disabled it; UTC, ISO 8601 with milliseconds'),
    disabled_reason: z
      .string()
      .nullable()
      .describe('The reason for which it is disabled; setting the webhook again enables it'),
  })
  .meta({
    id: 'WebhookConfigResponse',
    examples: [
      {
        url: 'https://hooks.example.org/runs',
        enabled: true,
        has_secret: true,
        events: null,
        previous_secret_until: null,
        failures: 0,
        rests_until: null,
        disabled_at: null,
        disabled_reason: null,
      },
    ],
  })
export type WebhookConfig = z.output<typeof WebhookConfig>

export const WebhookTestInput = z
  .object({ url: WebhookUrl.describe('Address that receives the test') })
  .meta({ id: 'WebhookTestRequest', examples: [{ url: 'https://hooks.example.org/runs' }] })
export const WebhookTest = z
  .object({
    delivered: z.boolean().describe('Whether the address accepted it'),
    status: z.int().nullable().describe('The status of the response; null: no response'),
    error: z.string().nullable().describe('The reason for which it is not delivered'),
    latency_ms: z.int().describe('Milliseconds until the result'),
    signed: z
      .boolean()
      .describe(
        "Whether it was signed: only messages to the organization's own webhook are signed with its secret",
      ),
  })
  .meta({
    id: 'WebhookTestResponse',
    examples: [{ delivered: true, status: 204, error: null, latency_ms: 87, signed: true }],
  })
export type WebhookTest = z.output<typeof WebhookTest>
