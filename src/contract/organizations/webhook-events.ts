import { z } from 'zod'

/** The events that are sent. Each reports one event of the organization, and no event has two names. */
export const webhook_events = [
  'agent_run.created',
  'agent_run.status',
  'agent_run.finished',
  'agent_run.pull_request',
  'agent_run.deleted',
] as const
export type WebhookEvent = (typeof webhook_events)[number]
export const WebhookEventName = z.enum(webhook_events).meta({
  id: 'WebhookEvent',
  description:
    '`agent_run.created`: a run was accepted. `agent_run.status`: its status changed, and it has not ended. `agent_run.finished`: it is completed, failed or cancelled. `agent_run.pull_request`: a pull request of it was proposed or changed. `agent_run.deleted`: it was deleted',
})
