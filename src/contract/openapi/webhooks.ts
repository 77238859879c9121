import { exampleMessage, WebhookDeletion, WebhookMessage } from '../webhooks/webhook-messages.ts'
import { hoist, type Json, jsonSchema } from './schemas.ts'

const header = (name: string, description: string, required: boolean): Json => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
})

/** What the service sends, as the receiver's operation. */
export function sentWebhooks(schemas: Json): Json {
  const schema = { anyOf: [WebhookMessage, WebhookDeletion].map(message => hoist(jsonSchema(message, 'output'), schemas)) }
  return {
    'agent-run-event': {
      post: {
        operationId: 'receiveAgentRunEvent',
        tags: ['webhooks'],
        summary: 'What a run did, told to a webhook',
        description:
          'Sent to the webhook of the organization, or to those that the run names. Any 2xx takes it; everything else, a redirect too, is tried again for a day; 410 switches the webhook off. A message may come more than once, always with the same `webhook-id`, and those of a run come in their order.',
        security: [],
        parameters: [
          header('webhook-id', 'The message: the same at each attempt', true),
          header('webhook-timestamp', 'When this attempt was made, in seconds since 1970', true),
          header(
            'webhook-signature',
            'Standard Webhooks: `v1,` and a signature for each secret, with a blank between them. Absent without a secret',
            false,
          ),
        ],
        requestBody: { required: true, content: { 'application/json': { schema, example: exampleMessage } } },
        responses: { '2XX': { description: 'The message was taken' } },
      },
    },
  }
}
