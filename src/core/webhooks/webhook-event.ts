import type { RunStatus } from '../../contract/runs/runs.ts'
import type { WebhookEvent } from '../../contract/webhooks/webhook-messages.ts'
import { isTerminal } from '../runs/run-transitions.ts'

/** Under which name an event of the organization goes out; null: it does not. */
export function webhookEventOf(type: string, body: Record<string, unknown>): WebhookEvent | null {
  if (type === 'agent_run.created' || type === 'agent_run.pull_request') return type
  if (type !== 'agent_run.status') return null
  return isTerminal(body.status as RunStatus) ? 'agent_run.finished' : 'agent_run.status'
}

/** The message as it is sent. `data`: JSON text of an object as it was kept. */
export const messageText = (type: string, created_at: Date, data: string, web_url: string): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${created_at.toISOString()}","data":${data.replace(/\}$/, '')},"web_url":${JSON.stringify(web_url)}}}`

/** What a receiver knows a message by, however often it comes. */
export const messageId = (uuid: string): string => `msg_${uuid.replaceAll('-', '')}`
