import { z } from 'zod'
import { WebhookEventName } from '../organizations/webhook-events.ts'
import { exampleRun } from '../runs/example-run.ts'
import { AgentRun, WaitingOn } from '../runs/runs.ts'

/** How much of a run's result and of an error is sent; the run has all of it. */
export const message_limits = {
  result_chars: 16_000,
  error_chars: 2_000,
  title_chars: 500,
  pull_requests: 20,
} as const

/** The fields of the run object that are included, as of the event. */
const run = AgentRun.pick({
  organization_id: true,
  status: true,
  status_reason: true,
  terminal: true,
  phase: true,
  turn: true,
  title: true,
  error: true,
  source_type: true,
  agent_type: true,
  model: true,
  tags: true,
  metadata: true,
  repo_id: true,
  base_ref: true,
  branch: true,
  user_id: true,
  parent_run_id: true,
  created_at: true,
  started_at: true,
  finished_at: true,
  usage: true,
  github_pull_requests: true,
  web_url: true,
})

/**
 * The body of a webhook except for deletions. Under `data`, a name of the run object has the same meaning.
 */
export const WebhookMessage = z
  .object({
    type: WebhookEventName.exclude(['agent_run.deleted']).describe('Type of the event'),
    timestamp: z.iso.datetime().describe('Time of the event; UTC, ISO 8601 with milliseconds'),
    data: run
      .extend({
        agent_run_id: z.int().describe('The run'),
        event_seq: z
          .int()
          .describe('Position of the event among those of the organization, as in its stream'),
        seq: z.int().describe('Last entry of the trace at that moment; never smaller at a later event'),
        waiting_on: WaitingOn.nullable().describe(
          'The condition that it waits for while it is `waiting`; otherwise null',
        ),
        result: z.string().describe(`The final answer, its first ${message_limits.result_chars} characters`),
        result_truncated: z.boolean().describe('Whether the result is longer; the run has all of it'),
        change: z
          .record(z.string(), z.unknown())
          .describe('Further fields of the event: for a pull request `pr_number` and `state`'),
      })
      .describe('The run at that moment'),
  })
  .meta({ id: 'WebhookMessage' })
export type WebhookMessage = z.output<typeof WebhookMessage>

/** Plain data, checked against the schema by its test. */
export const exampleMessage = {
  type: 'agent_run.finished',
  timestamp: '2026-11-20T10:31:12.501Z',
  data: {
    agent_run_id: exampleRun.id,
    organization_id: exampleRun.organization_id,
    event_seq: 130,
    seq: exampleRun.total_logs,
    status: 'completed',
    status_reason: null,
    terminal: true,
    phase: null,
    waiting_on: null,
    turn: 1,
    title: exampleRun.title,
    result: exampleRun.result,
    result_truncated: false,
    error: null,
    source_type: 'API',
    agent_type: exampleRun.agent_type,
    model: exampleRun.model,
    tags: exampleRun.tags,
    metadata: exampleRun.metadata,
    repo_id: exampleRun.repo_id,
    base_ref: exampleRun.base_ref,
    branch: exampleRun.branch,
    user_id: exampleRun.user_id,
    parent_run_id: null,
    created_at: exampleRun.created_at,
    started_at: exampleRun.started_at,
    finished_at: exampleRun.finished_at,
    usage: exampleRun.usage,
    github_pull_requests: exampleRun.github_pull_requests,
    change: { status: 'completed', status_reason: null },
    web_url: exampleRun.web_url,
  },
}

/** The fields of a deleted run. */
export const WebhookDeletion = z
  .object({
    type: z.literal('agent_run.deleted').describe('Type of the event'),
    timestamp: z.iso.datetime().describe('Time of the event; UTC, ISO 8601 with milliseconds'),
    data: z
      .object({
        agent_run_id: z.int().describe('The deleted run'),
        organization_id: z.int().describe('The organization'),
        event_seq: z
          .int()
          .describe('Position of the event among those of the organization, as in its stream'),
        repo_id: z.int().nullable().describe('The repository that it was for'),
        change: z
          .object({
            user_id: z
              .int()
              .nullable()
              .describe('The user who deleted it; null: its retention period has ended'),
          })
          .describe('Further fields of the event'),
        web_url: z.string().describe('Its page'),
      })
      .describe('The remaining fields'),
  })
  .meta({ id: 'WebhookDeletion' })
export type WebhookDeletion = z.output<typeof WebhookDeletion>
