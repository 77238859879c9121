import { z } from 'zod'
import { money } from '../money.ts'
import { pageOf } from '../page.ts'
import { ReasoningEffort } from '../reasoning-effort-schema.ts'
import { ReviewMode } from '../review-mode-schema.ts'
import { exampleRun } from './example-run.ts'
import { type ByLimit, byLimit, run_limits } from './run-limits.ts'

/** Run status (specification.md#run-status). */
export const RunStatus = z
  .enum([
    'queued',
    'starting',
    'running',
    'waiting',
    'paused',
    'cancelling',
    'completed',
    'failed',
    'cancelled',
  ])
  .meta({
    id: 'RunStatus',
    description: 'Status of a run; `completed`, `failed` and `cancelled` are final until it is resumed',
  })
export type RunStatus = z.infer<typeof RunStatus>

/** Why a run failed, or is paused. */
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
  'worker_stalled',
  'policy_denied',
] as const
export const pauseReasons = ['user_request', 'budget', 'sandbox_lost'] as const
/**
 * Why a run completed without doing everything that was requested. If several hold, the first of this list is
 * reported.
 */
export const completionReasons = [
  'no_effect',
  'push_refused',
  'pull_request_refused',
  'checks_failed',
  'checks_unfinished',
  'work_lost',
  'last_response_missing',
  'review_failed',
  'setup_failed',
  'setup_unverified',
  'tool_failed',
  'explanation_failed',
] as const
export type CompletionReason = (typeof completionReasons)[number]
export const StatusReason = z
  .enum([...new Set([...failureReasons, ...pauseReasons, ...completionReasons])])
  .meta({
    id: 'StatusReason',
    description: `The reason for which a run failed, is paused, or completed without doing everything that was requested. Of a run that is \`completed\`: ${completionReasons.map(reason => `\`${reason}\``).join(', ')}; if several hold, the first of these`,
  })
export type StatusReason = z.infer<typeof StatusReason>

/** What a run does while it starts, and while it runs. */
export const startingPhases = ['clone', 'setup', 'checkout', 'recover'] as const
export const runningPhases = ['agent', 'evaluate', 'push', 'pull_request'] as const
export const RunPhase = z
  .enum([...startingPhases, ...runningPhases])
  .meta({ id: 'RunPhase', description: 'Current activity of a run that is starting or running' })
export type RunPhase = z.infer<typeof RunPhase>

/** What a `waiting` run waits for, and what a run in another status does (specification.md#run-status). */
const waitingReasons = ['user_input', 'tool_approval', 'ci'] as const
export type WaitingReason = (typeof waitingReasons)[number]
const workingReasons = [
  'slot',
  'worker',
  'clone',
  'setup',
  'recovery',
  'model',
  'model_retry',
  'tool',
  'push',
] as const
export const WaitingOn = z.enum([...waitingReasons, ...workingReasons]).meta({
  id: 'WaitingOn',
  description:
    'The condition or activity that a run waits for. While it is `waiting`, a person or an outside event: `user_input`, `tool_approval`, `ci`. Otherwise the current activity: `ci`: checks that the service itself runs; `slot`: a free worker; `worker`: a worker that claims it, releases it or is between two steps; `clone`, `setup` and `recovery` of its files; `model`: a response; `model_retry`: the next attempt after a failed one; `tool`: a call in progress; `push`',
})
export type WaitingOn = z.infer<typeof WaitingOn>

/** The values of the public API, which its clients can read. */
export const publicSourceTypes = [
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
] as const
export const SourceType = z
  .enum([...publicSourceTypes, 'SCHEDULE', 'WEBHOOK', 'LOG_ANALYSIS', 'FORK', 'PARENT_RUN', 'TOOL'])
  .meta({
    id: 'SourceType',
    description:
      'Source of a run: `CHAT` the web page, `API` another client, `LOCAL` a session outside this service that is only recorded, `LOG_ANALYSIS` an analysis of logs, `FORK` a fork of another run, `PARENT_RUN` the agent of another run, `TOOL` a single tool call; tokens with the wire profile `codegen` get `API` for these four. No run has `SCHEDULE` or `WEBHOOK` yet. The other values are those of the Codegen API',
  })
export type SourceType = z.infer<typeof SourceType>

const time = z.iso.datetime()

export const RunPullRequest = z
  .object({
    id: z.int().describe('The pull request'),
    title: z.string().nullable().describe('Its title'),
    url: z.string().nullable().describe('Web address'),
    created_at: time.describe('Time of its creation; UTC, ISO 8601 with milliseconds'),
    updated_at: time.describe('Time of the last change or comment'),
    head_branch_name: z.string().nullable().describe('Branch with the changes'),
    number: z.int().describe('Its number in the repository'),
    state: z.enum(['open', 'closed', 'merged', 'draft']).describe('State of the pull request'),
    base_branch_name: z.string().describe('Branch into which it is merged'),
    head_sha: z.string().describe('Its newest commit'),
    files_changed: z.int().describe('Number of files'),
    additions: z.int().describe('Lines added'),
    deletions: z.int().describe('Lines removed'),
  })
  .meta({ id: 'RunPullRequest' })
export type RunPullRequest = z.infer<typeof RunPullRequest>

const Usage = z
  .object({
    input_tokens: z.int().describe('Tokens sent to models'),
    output_tokens: z.int().describe('Tokens in responses of models'),
    cached_tokens: z.int().describe('Tokens that a provider had in its cache, included in the tokens sent'),
    cached_share: z
      .number()
      .nullable()
      .describe(
        '`cached_tokens` as a part of `input_tokens`, from 0 to 1 with three decimals; null while none were sent',
      ),
    cost_usd: money
      .nullable()
      .describe('Cost in US dollars; null, never 0, when the price of a model is unknown'),
    active_seconds: z.number().describe('Seconds of worker time spent on the run'),
    estimated_calls: z
      .int()
      .describe(
        'Calls of models with tokens and cost that are estimated at least in part: the provider reported none, or the response did not arrive',
      ),
  })
  .meta({ id: 'Usage' })

const amount = z.int().nullable()
const Budget = z
  .object(
    byLimit<ByLimit<ReturnType<typeof money.nullable>, typeof amount>>(name =>
      run_limits[name].unit === 'usd'
        ? money.nullable().describe('US dollars as a decimal string')
        : amount.describe(run_limits[name].about),
    ),
  )
  .meta({ id: 'Budget' })

/** As in the checks of a pull request, without the checks themselves. */
const RunChecks = z
  .object({
    state: z
      .enum(['none', 'pending', 'success', 'failure'])
      .describe(
        '`failure`: one has failed; `pending`: none has failed, and one has not ended; `none`: there are no checks',
      ),
    passed: z.int().describe('Number of checks that passed or were skipped'),
    failed: z.int().describe('Number of checks that failed'),
    pending: z.int().describe('Number of checks that have not ended'),
  })
  .meta({ id: 'RunChecks' })

/** The run object of create, get, resume, stop and every list item (specification.md#run-object). */
export const AgentRun = z
  .object({
    id: z.int().describe('The run'),
    organization_id: z.int().describe('Organization of the run'),
    status: RunStatus,
    created_at: time.describe('Time of the request; UTC, ISO 8601 with milliseconds'),
    web_url: z.string().describe('The run in the web interface'),
    result: z
      .string()
      .describe(
        'The final answer; "" until there is one and while a new turn runs; null instead with the wire profile `codegen`',
      ),
    summary: z.string().nullable().describe('A one-line summary'),
    source_type: SourceType,
    github_pull_requests: z.array(RunPullRequest).describe('Its pull requests; empty when there are none'),
    metadata: z.record(z.string(), z.unknown()).nullable().describe('As set by the request that created it'),
    status_reason: StatusReason.nullable().describe(
      'The reason for which it failed, is paused, or completed without doing everything that was requested; null of a run that is `completed`: everything was done',
    ),
    terminal: z.boolean().describe('Whether it has ended; only a resume continues it'),
    phase: RunPhase.nullable().describe('Its activity while it is starting or running'),
    waiting_on: WaitingOn.nullable().describe(
      'The condition or activity that it waits for now; null when it is paused or has ended, or records a session outside this service',
    ),
    queue_position: z
      .int()
      .nullable()
      .describe(
        "Its position among the queued runs of its organization: 1 is next when it is the organization's turn. From 1,000 on it stays 1,000; null unless queued",
      ),
    last_progress_at: time.describe(
      'Time of its last progress: an entry, a part of a model response, output of a tool; UTC, ISO 8601 with milliseconds',
    ),
    deadline_at: time
      .nullable()
      .describe(
        'The deadline of its current activity; null only when it is paused or has ended; UTC, ISO 8601 with milliseconds',
      ),
    stop_requested_at: time
      .nullable()
      .describe('Time of the request to stop; null unless for this turn; UTC, ISO 8601 with milliseconds'),
    stop_requested_by: z.int().nullable().describe('The user who sent that request'),
    pause_requested_at: time
      .nullable()
      .describe('Time of the request to pause; null after it continues; UTC, ISO 8601 with milliseconds'),
    pause_requested_by: z.int().nullable().describe('The user who sent that request'),
    started_at: time
      .nullable()
      .describe('Time at which a worker first claimed it; UTC, ISO 8601 with milliseconds'),
    updated_at: time.describe('Time of the last change; UTC, ISO 8601 with milliseconds'),
    finished_at: time
      .nullable()
      .describe('Time of its end; null while a new turn runs; UTC, ISO 8601 with milliseconds'),
    error: z
      .object({ code: z.string().describe('For programs'), message: z.string().describe('For people') })
      .nullable()
      .describe('The error'),
    agent_type: z.string().describe('The agent that works on it'),
    model: z
      .string()
      .describe('`provider/model`; models under `scripted/` play a script and are not language models'),
    reasoning_effort: ReasoningEffort.nullable().describe(
      'Reasoning effort of its model; null: the default of the model, `high` for Claude and `medium` for others',
    ),
    review: ReviewMode.nullable().describe(
      "Reviewer of its change before the push: `model`, or `rules` without model calls; null: the service's default",
    ),
    tools_off: z.array(z.string()).describe('Tools that its agent may not use'),
    prompt: z.string().describe('Its first prompt'),
    title: z.string().describe('Display name'),
    tags: z.array(z.string()).describe('Search words'),
    archived: z.boolean().describe('Whether it is archived'),
    repo_id: z.int().nullable().describe('Repository that it works on; null: an empty workspace'),
    base_ref: z.string().nullable().describe('Branch, tag or commit that it starts from'),
    base_sha: z.string().nullable().describe('The commit of `base_ref`, once it was resolved'),
    branch: z.string().nullable().describe('null until it was pushed'),
    user_id: z.int().describe('The user who requested it'),
    turn: z.int().describe('1 for the first prompt, incremented with each new turn'),
    parent_run_id: z.int().nullable().describe('The run that this one belongs to'),
    forked_at_seq: z.int().nullable().describe('Entry of the parent that a fork starts from'),
    total_logs: z.int().describe('Number of entries in its trace'),
    usage: Usage.describe('Its usage over all turns'),
    budget: Budget.describe('Limits that the caller set; reaching one pauses it'),
    repo_name: z.string().nullable().describe('Name of that repository'),
    checks: RunChecks.nullable().describe('The combined checks of its newest pull request; null without one'),
    banned: z.boolean().describe('Banned: no resume and no check starts it again until the ban is lifted'),
  })
  .meta({ id: 'AgentRun', examples: [exampleRun] })
export type AgentRun = z.infer<typeof AgentRun>

export const DeletedRun = z
  .object({ id: z.int().describe('The deleted run'), deleted: z.literal(true).describe('Always true') })
  .meta({ id: 'DeletedAgentRun', examples: [{ id: exampleRun.id, deleted: true }] })

export const RunPage = pageOf(AgentRun).meta({ id: 'PageOfAgentRun' })
