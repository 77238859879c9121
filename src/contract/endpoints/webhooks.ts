import { type Endpoint, org, v1 } from '../endpoint.ts'
import { WebhookConfig, WebhookConfigInput, WebhookTest, WebhookTestInput } from '../webhooks.ts'

/** Where an organization's runs are reported: kept now, delivered later (decisions §10). */
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
      'A run that names webhooks of its own is reported there instead. It is kept in this version, and nothing is delivered yet.',
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
    description: 'Not in this version: 501.',
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    problems: ['not_available'],
    body: WebhookTestInput,
    response: WebhookTest,
  },
} as const satisfies Record<string, Endpoint>
