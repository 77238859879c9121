import { id } from '../decimal.ts'
import { type Endpoint, org, v1 } from '../endpoint.ts'
import {
  ListDeliveriesQuery,
  RedeliveredFailed,
  RedeliverFailedInput,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookDeliveryPage,
} from '../webhooks/webhook-deliveries.ts'
import { WebhookConfig, WebhookConfigInput, WebhookTest, WebhookTestInput } from '../webhooks/webhooks.ts'

const delivery = org.extend({ delivery_id: id().describe('The delivery') })

/** Webhooks of an organization, and their deliveries (specification.md#events). */
export const webhookEndpoints = {
  getWebhook: {
    ...v1,
    tag: 'webhooks',
    method: 'GET',
    path: '/v1/organizations/{org_id}/webhooks/agent-run',
    summary: 'Get the webhook of the organization',
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    response: WebhookConfig,
  },
  setWebhook: {
    ...v1,
    tag: 'webhooks',
    method: 'POST',
    path: '/v1/organizations/{org_id}/webhooks/agent-run',
    summary: 'Set the webhook of the organization',
    description:
      'Events are sent as Standard Webhooks: signed, at least once with the same `webhook-id`, in the order of each run, and retried for a day if not accepted. A run with its own webhooks is reported to those instead. Private addresses are refused unless the operator allows them.',
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    body: WebhookConfigInput,
    response: WebhookConfig,
  },
  deleteWebhook: {
    ...v1,
    tag: 'webhooks',
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/webhooks/agent-run',
    summary: 'Delete the webhook of the organization',
    description: 'The response is the same whether there was a webhook or not.',
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    response: WebhookConfig,
  },
  testWebhook: {
    ...v1,
    tag: 'webhooks',
    method: 'POST',
    path: '/v1/organizations/{org_id}/webhooks/agent-run/test',
    summary: 'Send a test message to an address',
    description:
      'Sends a `webhook.test` immediately and waits up to ten seconds for the result. An address that does not accept it is not an error: the response contains the reason.',
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    body: WebhookTestInput,
    response: WebhookTest,
  },
  listWebhookDeliveries: {
    ...v1,
    tag: 'webhooks',
    method: 'GET',
    path: '/v1/organizations/{org_id}/webhooks/agent-run/deliveries',
    summary: 'List deliveries, newest first',
    description:
      'Those to the webhook of the organization and those to webhooks of runs. Finished ones are kept for 30 days, or as long as their run.',
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    query: ListDeliveriesQuery,
    response: WebhookDeliveryPage,
  },
  getWebhookDelivery: {
    ...v1,
    tag: 'webhooks',
    method: 'GET',
    path: '/v1/organizations/{org_id}/webhooks/agent-run/deliveries/{delivery_id}',
    summary: 'Get a delivery with its message and its attempts',
    scope: 'org:admin',
    bucket: 'standard',
    params: delivery,
    problems: ['not_found'],
    response: WebhookDeliveryDetail,
  },
  redeliverFailedWebhooks: {
    ...v1,
    tag: 'webhooks',
    method: 'POST',
    path: '/v1/organizations/{org_id}/webhooks/agent-run/deliveries/redeliver',
    summary: 'Retry failed deliveries',
    description:
      'The earliest first, at most a thousand, each for a day with its `webhook-id`, and those of a run in their order. The response counts them; a repeated request continues with the rest.',
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    body: RedeliverFailedInput,
    response: RedeliveredFailed,
  },
  redeliverWebhook: {
    ...v1,
    tag: 'webhooks',
    method: 'POST',
    path: '/v1/organizations/{org_id}/webhooks/agent-run/deliveries/{delivery_id}/redeliver',
    summary: 'Retry a delivery',
    description:
      'Queues it again, for a day, with the same `webhook-id`, by which a receiver recognizes a duplicate. A waiting one is attempted immediately; one in progress is unchanged. 409 when there is no longer a recipient.',
    scope: 'org:admin',
    bucket: 'standard',
    params: delivery,
    problems: ['not_found', 'conflict'],
    response: WebhookDelivery,
  },
} as const satisfies Record<string, Endpoint>
