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

/** Where an organization's runs are reported, and what became of it (specification.md#events). */
export const webhookEndpoints = {
  getWebhook: {
    ...v1,
    tag: 'webhooks',
    method: 'GET',
    path: '/v1/organizations/{org_id}/webhooks/agent-run',
    summary: "Where the organization's runs are reported",
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
    summary: "Set where the organization's runs are reported",
    description:
      'Events go out as Standard Webhooks: signed, at least once with the same `webhook-id`, in the order of each run, and again for a day where they are not taken. A run that names webhooks of its own is reported there instead. Private addresses are refused unless the operator allows them.',
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
    summary: "Report the organization's runs nowhere",
    description: 'Answers the same whether there was a webhook or not.',
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
    summary: 'Send a test to an address',
    description:
      'Sends a `webhook.test` there at once and waits for what becomes of it, ten seconds at most. An address that does not take it is no error: the answer says why.',
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
    summary: 'List what was sent, newest first',
    description:
      'Those to the webhook of the organization and those to webhooks of runs. What is over is kept for 30 days, or as long as its run is.',
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
    summary: 'A delivery with its message and its attempts',
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
    summary: 'Send again what has failed',
    description:
      'The earliest first, a thousand at most, each for a day with the `webhook-id` that it has, and those of a run in their order. The answer counts them; asked again it goes on with those that are left.',
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
    summary: 'Send a delivery again',
    description:
      'Puts it into the queue again, for a day, with the same `webhook-id`: a receiver that has it knows it. One that waits is tried at once; one that is on its way stays so. 409 when there is nobody to send it to any more.',
    scope: 'org:admin',
    bucket: 'standard',
    params: delivery,
    problems: ['not_found', 'conflict'],
    response: WebhookDelivery,
  },
} as const satisfies Record<string, Endpoint>
