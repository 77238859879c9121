import { exampleMessage, WebhookDeletion, WebhookMessage } from '../webhooks/webhook-messages.ts'
import { hoist, type Json, jsonSchema } from './schemas.ts'

const header = (name: string, description: string, required: boolean): Json => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
})

/** Returns the webhooks that the service sends, as operations of the receiver. */
export function sentWebhooks(schemas: Json): Json {
  const schema = {
    anyOf: [WebhookMessage, WebhookDeletion].map(message => hoist(jsonSchema(message, 'output'), schemas)),
  }
  return {
    'agent-run-event': {
      post: {
        operationId: 'receiveAgentRunEvent',
        tags: ['webhooks'],
        summary: "Reports a run's event to a webhook",
        description:
          'Sent to the webhook of the organization, or to those that the run names. Any 2xx accepts it; any other response, including a redirect, is retried for a day; 410 disables the webhook. A message may arrive more than once, always with the same `webhook-id`, and those of a run arrive in their order.',
        security: [],
        parameters: [
          header('webhook-id', 'The message: the same at each attempt', true),
          header('webhook-timestamp', 'Time of this attempt, in seconds since 1970', true),
          header(
            'webhook-signature',
            'Standard Webhooks: `v1,` and a signature for each secret, separated by spaces. Absent without a secret',
            false,
          ),
        ],
        requestBody: { required: true, content: { 'application/json': { schema, example: exampleMessage } } },
        responses: { '2XX': { description: 'The message was accepted' } },
      },
    },
  }
}
