import { message_types, run_statuses } from '../../../src/client/sdk/table.ts'
import type { WebhookEvent } from '../../../src/contract/organizations/webhook-events.ts'
import type { MessageType } from '../../../src/contract/runs/logs.ts'
import type { RunStatus, SourceType, StatusReason } from '../../../src/contract/runs/runs.ts'
import type { WebhookDelivery } from '../../../src/contract/webhooks/webhook-deliveries.ts'

/** The names of the contract as values. The build replaces the table by its values, without the schemas. */
export const RunStatuses = run_statuses as RunStatus[]
export const MessageTypes = message_types as MessageType[]

/** What started a run. */
export const sourceNames: Record<SourceType, string> = {
  CHAT: 'Web page',
  API: 'API',
  LOCAL: 'Local session',
  GITHUB: 'GitHub',
  GITHUB_CHECK_SUITE: 'GitHub check suite',
  GITHUB_PR_REVIEW: 'GitHub review',
  SLACK: 'Slack',
  LINEAR: 'Linear',
  JIRA: 'Jira',
  CLICKUP: 'ClickUp',
  MONDAY: 'monday.com',
  SETUP_COMMANDS: 'Setup commands',
  SCHEDULE: 'Schedule',
  WEBHOOK: 'Webhook',
  LOG_ANALYSIS: 'Log analysis',
  FORK: 'Fork',
  PARENT_RUN: 'Parent run',
  TOOL: 'Tool call',
}

/** Why a run failed or is paused. */
export const reasonNames: Record<StatusReason, string> = {
  agent_error: 'agent error',
  setup_failed: 'setup failed',
  timeout: 'timeout',
  max_steps: 'step limit reached',
  out_of_tokens: 'out of tokens',
  model_unavailable: 'model unavailable',
  model_auth: 'model key refused',
  git_unavailable: 'git unavailable',
  disk_quota: 'disk quota',
  oom: 'out of memory',
  lost: 'worker lost',
  worker_stalled: 'worker stalled',
  policy_denied: 'policy denied',
  user_request: 'by request',
  budget: 'budget reached',
  sandbox_lost: 'sandbox lost',
}

/** The events that webhooks report. */
export const webhookEvents: Record<WebhookEvent, string> = {
  'agent_run.created': 'A run was accepted',
  'agent_run.status': 'The status of a run changed, and it has not ended',
  'agent_run.finished': 'A run is completed, failed or cancelled',
  'agent_run.pull_request': 'A pull request of a run was opened or changed',
  'agent_run.deleted': 'A run was deleted',
}

export const deliveryStates: Record<WebhookDelivery['state'], string> = {
  pending: 'Waiting',
  delivered: 'Delivered',
  failed: 'Failed',
}
