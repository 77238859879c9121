import type { WebhookEvent } from '../../contract/organizations/webhook-events.ts'
import type { RunStatus } from '../../contract/runs/runs.ts'
import { isTerminal } from '../runs/run-transitions.ts'

/** Returns the webhook event for an event of the organization; null: it is not sent. */
export function webhookEventOf(type: string, body: Record<string, unknown>): WebhookEvent | null {
  if (type === 'agent_run.created' || type === 'agent_run.pull_request') return type
  if (type !== 'agent_run.status') return null
  return isTerminal(body.status as RunStatus) ? 'agent_run.finished' : 'agent_run.status'
}

/** Returns the message as it is sent. `data`: JSON text of an object as it was stored. */
export const messageText = (type: string, created_at: Date, data: string, web_url: string): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${created_at.toISOString()}","data":${data.replace(/\}$/, '')},"web_url":${JSON.stringify(web_url)}}}`

/** Returns the id by which a receiver recognizes a repeated message. */
export const messageId = (uuid: string): string => `msg_${uuid.replaceAll('-', '')}`
