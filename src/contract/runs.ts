import { z } from 'zod'
import { pageOf } from './page.ts'

/** Run status (decisions §2). */
export const RunStatus = z
  .enum(['queued', 'starting', 'running', 'waiting', 'paused', 'cancelling', 'completed', 'failed', 'cancelled'])
  .meta({ id: 'RunStatus' })
export type RunStatus = z.infer<typeof RunStatus>

/** Why a run failed, and why one is held. */
export const failureReasons = [
  'agent_error',
  'setup_failed',
  'timeout',
  'max_steps',
  'out_of_tokens',
  'model_unavailable',
  'model_auth',
  'git_unavailable',
  'disk_quota',
  'oom',
  'lost',
  'policy_denied',
] as const
export const pauseReasons = ['user_request', 'budget', 'sandbox_lost'] as const
export const StatusReason = z.enum([...failureReasons, ...pauseReasons]).meta({ id: 'StatusReason' })
export type StatusReason = z.infer<typeof StatusReason>

/** What a run does while it starts, and while it runs. */
export const startingPhases = ['clone', 'setup', 'checkout', 'recover'] as const
export const runningPhases = ['agent', 'evaluate', 'push', 'pull_request'] as const
export const RunPhase = z.enum([...startingPhases, ...runningPhases]).meta({ id: 'RunPhase' })
export type RunPhase = z.infer<typeof RunPhase>

export const WaitingOn = z.enum(['user_input', 'plan_approval', 'tool_approval', 'ci']).meta({ id: 'WaitingOn' })
export type WaitingOn = z.infer<typeof WaitingOn>

export const SourceType = z
  .enum([
    'LOCAL',
    'SLACK',
    'GITHUB',
    'GITHUB_CHECK_SUITE',
    'GITHUB_PR_REVIEW',
    'LINEAR',
    'API',
    'CHAT',
    'JIRA',
    'CLICKUP',
    'MONDAY',
    'SETUP_COMMANDS',
    'SCHEDULE',
    'WEBHOOK',
    'LOG_ANALYSIS',
    'FORK',
    'PARENT_RUN',
  ])
  .meta({ id: 'SourceType' })
export type SourceType = z.infer<typeof SourceType>

const time = z.iso.datetime().describe('UTC, ISO 8601 with milliseconds')
const money = z
  .string()
  .regex(/^\d+(\.\d+)?$/)
  .describe('US dollars as a decimal string')

export const RunPullRequest = z
  .object({
    id: z.int(),
    title: z.string().nullable(),
    url: z.string().nullable(),
    created_at: time,
    head_branch_name: z.string().nullable(),
    number: z.int(),
    state: z.enum(['open', 'closed', 'merged', 'draft']),
    base_branch_name: z.string(),
    head_sha: z.string(),
    files_changed: z.int(),
    additions: z.int(),
    deletions: z.int(),
  })
  .meta({ id: 'RunPullRequest' })

export const Usage = z
  .object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    cached_tokens: z.int(),
    cost_usd: money.nullable().describe('null when the price of a model is unknown, never 0 for it'),
    active_seconds: z.number().describe('Time a worker spent on the run'),
  })
  .meta({ id: 'Usage' })

export const Budget = z
  .object({
    max_cost_usd: money.nullable(),
    max_steps: z.int().nullable(),
    max_active_seconds: z.int().nullable(),
    max_wall_seconds: z.int().nullable(),
  })
  .meta({ id: 'Budget' })
export type Budget = z.infer<typeof Budget>

/** The run object of create, get, resume, stop and every list item (decisions §3). */
export const AgentRun = z
  .object({
    id: z.int(),
    organization_id: z.int(),
    status: RunStatus,
    created_at: time,
    web_url: z.string(),
    result: z.string().describe('The final answer; "" until there is one and while a new turn runs'),
    summary: z.string().nullable(),
    source_type: SourceType,
    github_pull_requests: z.array(RunPullRequest),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    status_reason: StatusReason.nullable(),
    terminal: z.boolean(),
    phase: RunPhase.nullable(),
    waiting_on: WaitingOn.nullable(),
    queue_position: z.int().nullable().describe('1 is next; null unless queued'),
    last_progress_at: time,
    deadline_at: time.nullable(),
    started_at: time.nullable(),
    updated_at: time,
    finished_at: time.nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    agent_type: z.string(),
    model: z.string().describe('`provider/model`; models under `scripted/` play a script and are no language model'),
    prompt: z.string(),
    title: z.string(),
    tags: z.array(z.string()),
    archived: z.boolean(),
    repo_id: z.int().nullable(),
    base_ref: z.string().nullable(),
    base_sha: z.string().nullable(),
    branch: z.string().nullable().describe('null until it was pushed'),
    user_id: z.int(),
    turn: z.int(),
    parent_run_id: z.int().nullable(),
    forked_at_seq: z.int().nullable(),
    total_logs: z.int(),
    usage: Usage,
    budget: Budget,
  })
  .meta({ id: 'AgentRun' })
export type AgentRun = z.infer<typeof AgentRun>

export const RunPage = pageOf(AgentRun).meta({ id: 'PageOfAgentRun' })
