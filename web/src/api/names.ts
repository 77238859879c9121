import { message_types, run_statuses } from '../../../src/client/sdk/routes.ts'
import type { WebhookEvent } from '../../../src/contract/organizations/webhook-events.ts'
import type { MessageType } from '../../../src/contract/runs/logs.ts'
import type {
  CompletionReason,
  RunStatus,
  SourceType,
  StatusReason,
} from '../../../src/contract/runs/runs.ts'
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

/** Why a run failed, is paused, or completed without doing everything. */
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
  no_effect: 'no effect',
  push_refused: 'push refused',
  pull_request_refused: 'pull request refused',
  checks_failed: 'checks failed',
  checks_unfinished: 'checks unfinished',
  work_lost: 'work lost',
  last_response_missing: 'last response missing',
  review_failed: 'review failed',
  setup_unverified: 'setup not verified',
  tool_failed: 'tool failed',
  explanation_failed: 'no explanation',
}

/** What a completed run with such a reason did not do. */
const completionTexts: Record<CompletionReason, string> = {
  no_effect: 'The agent gave no answer of the model and changed nothing, or nothing that is committed.',
  push_refused: 'The remote refused the branch. The commit is kept, and the next turn tries again.',
  pull_request_refused:
    'The branch is pushed, but the forge has no pull request for it. The next turn tries again.',
  checks_failed: 'Checks of the pushed commit fail, and no further attempt was made to fix them.',
  checks_unfinished: 'Checks of the pushed commit had not ended when the waiting time ended.',
  work_lost:
    'Changes of some actions were lost before they were stored. The agent was informed, but they may be missing.',
  last_response_missing:
    'The last call of the model has no response: the agent aborted it, or continued without.',
  review_failed: 'The review of the change failed, also after the last round of fixes.',
  setup_failed: 'Commands that set up the workspace failed, so what they install may be missing.',
  setup_unverified: 'No commands were proved to set up the repository.',
  tool_failed: 'The tool call did not succeed.',
  explanation_failed: 'The model gave no explanation. The findings are complete.',
}

/**
 * Returns the explanation of what a completed run did not do; null: it did everything, or has not completed.
 */
export const completionText = ({
  status,
  status_reason,
}: {
  status: RunStatus
  status_reason: StatusReason | null
}): string | null =>
  status === 'completed' && status_reason !== null
    ? (completionTexts[status_reason as CompletionReason] ?? null)
    : null

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
