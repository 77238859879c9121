import { z } from 'zod'
import { id, moment } from '../decimal.ts'
import { WebhookEventName, webhook_events } from '../organizations/webhook-events.ts'
import { pageOf, pageQuery } from '../page.ts'
import { several } from '../several.ts'
import { exampleMessage, WebhookDeletion, WebhookMessage } from './webhook-messages.ts'

const time = z.iso.datetime()
const delivery_states = ['pending', 'delivered', 'failed'] as const

const delivery = {
  id: z.int().describe('The delivery; later ones have larger numbers'),
  organization_id: z.int().describe('The organization'),
  agent_run_id: z.int().describe('The run that it reports, which may be deleted'),
  event_seq: z.int().describe('Position of the event among those of the organization'),
  type: WebhookEventName,
  message_id: z
    .string()
    .describe('`webhook-id` of every attempt, by which a receiver recognizes a duplicate'),
  url: z
    .string()
    .nullable()
    .describe('The webhook of the run that it is for; null: the webhook of the organization'),
  state: z
    .enum(delivery_states)
    .describe('`pending`: waits, or is retried; `delivered`: accepted; `failed`: given up'),
  error: z
    .string()
    .nullable()
    .describe('The reason for which the last attempt failed, or for which there is none'),
  attempts: z.int().describe('The number of attempts'),
  last_status: z.int().nullable().describe('The last status of the receiver; null: no response'),
  last_latency_ms: z.int().nullable().describe('Milliseconds that the last attempt took'),
  next_attempt_at: time
    .nullable()
    .describe(
      'Time of the next attempt; null when it is finished, or waits for an earlier one of its run; UTC, ISO 8601 with milliseconds',
    ),
  created_at: time.describe('Time of the event; UTC, ISO 8601 with milliseconds'),
  finished_at: time.nullable().describe('Time of its completion; UTC, ISO 8601 with milliseconds'),
}
const example = {
  id: 815,
  organization_id: 1,
  agent_run_id: exampleMessage.data.agent_run_id,
  event_seq: 130,
  type: 'agent_run.finished',
  message_id: 'msg_0b9d5e5c3c1f4a0e8a4e2f6d7c8b9a10',
  url: null,
  state: 'delivered',
  error: null,
  attempts: 2,
  last_status: 204,
  last_latency_ms: 87,
  next_attempt_at: null,
  created_at: exampleMessage.timestamp,
  finished_at: '2026-11-20T10:31:18.044Z',
}

export const WebhookDelivery = z.object(delivery).meta({ id: 'WebhookDelivery', examples: [example] })
export type WebhookDelivery = z.output<typeof WebhookDelivery>
export const WebhookDeliveryPage = pageOf(WebhookDelivery).meta({ id: 'PageOfWebhookDelivery' })

const WebhookAttempt = z
  .object({
    n: z.int().describe('1 for the first'),
    url: z.string().nullable().describe('The URL of the attempt; null while it is in progress'),
    started_at: time.describe('Time of its start; UTC, ISO 8601 with milliseconds'),
    finished_at: time
      .nullable()
      .describe(
        'Time of its outcome; null: it is in progress, or its process died; UTC, ISO 8601 with milliseconds',
      ),
    status: z.int().nullable().describe('The status of the receiver; null: no response'),
    error: z.string().nullable().describe('The cause of the failure'),
    latency_ms: z.int().nullable().describe('Milliseconds that it took'),
    answer: z.string().nullable().describe('The first 1,000 characters of the response'),
  })
  .meta({ id: 'WebhookAttempt' })

export const WebhookDeliveryDetail = z
  .object({
    ...delivery,
    message: z.union([WebhookMessage, WebhookDeletion]).describe('The message'),
    log: z.array(WebhookAttempt).describe('Its newest 100 attempts, in their order'),
  })
  .meta({
    id: 'WebhookDeliveryDetail',
    examples: [
      {
        ...example,
        message: exampleMessage,
        log: [
          {
            n: 1,
            url: 'https://hooks.example.org/runs',
            started_at: '2026-11-20T10:31:12.530Z',
            finished_at: '2026-11-20T10:31:12.610Z',
            status: 503,
            error: 'it responded with 503',
            latency_ms: 80,
            answer: 'try later',
          },
          {
            n: 2,
            url: 'https://hooks.example.org/runs',
            started_at: '2026-11-20T10:31:17.957Z',
            finished_at: '2026-11-20T10:31:18.044Z',
            status: 204,
            error: null,
            latency_ms: 87,
            answer: '',
          },
        ],
      },
    ],
  })
export type WebhookDeliveryDetail = z.output<typeof WebhookDeliveryDetail>

export const ListDeliveriesQuery = z.object({
  ...pageQuery,
  state: several(z.enum(delivery_states, { error: `must be one of ${delivery_states.join(', ')}` })).describe(
    'Only those in one of these states',
  ),
  type: several(z.enum(webhook_events, { error: `must be one of ${webhook_events.join(', ')}` })).describe(
    'Only of one of these events',
  ),
  agent_run_id: several(id()).describe('Only of one of these runs'),
})
export type ListDeliveriesQuery = z.output<typeof ListDeliveriesQuery>

const max_redelivered = 1_000
const bound = (about: string) => moment().nullish().describe(about)

export const RedeliverFailedInput = z
  .object({
    since: bound('Only those whose event was then or later'),
    until: bound('Only those whose event was earlier'),
    type: z
      .enum(webhook_events, { error: `must be one of ${webhook_events.join(', ')}` })
      .nullish()
      .describe('Only of this event'),
    limit: z
      .int()
      .min(1)
      .max(max_redelivered)
      .default(max_redelivered)
      .describe('Maximum number to retry, the earliest first'),
  })
  .meta({
    id: 'RedeliverFailedRequest',
    examples: [{ since: '2026-11-20T10:00:00.000Z', until: '2026-11-20T12:00:00.000Z' }],
  })
export type RedeliverFailedInput = z.output<typeof RedeliverFailedInput>

export const RedeliveredFailed = z
  .object({
    queued: z.int().describe('Number of deliveries that are retried'),
    remaining: z
      .int()
      .describe(
        'Number of further deliveries, beyond `limit` or the capacity of the queue: repeat the request later',
      ),
    without_recipient: z
      .int()
      .describe('Number of deliveries that are unchanged because their recipient no longer exists'),
  })
  .meta({
    id: 'RedeliveredFailedResponse',
    examples: [{ queued: 1_000, remaining: 212, without_recipient: 3 }],
  })
export type RedeliveredFailed = z.output<typeof RedeliveredFailed>
