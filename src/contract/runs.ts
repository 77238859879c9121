import { z } from 'zod'
import { decimal, flag, id, moment } from './decimal.ts'
import { limits } from './limits.ts'
import { pageOf, pageQuery } from './page.ts'
import { isSoundJson, text, unsound } from './text.ts'

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
    branch: z.string().nullable(),
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

const prompt = text(1, limits.prompt_chars, { trim: true, error: 'is required and must be a string' })

const images = z
  .array(
    z
      .string()
      .regex(/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/, 'must be a base64 data URI of a PNG, JPEG, GIF or WebP image'),
  )
  .max(limits.images)
  .refine(list => list.reduce((sum, uri) => sum + uri.length, 0) <= limits.images_bytes, 'images must have at most 16 MB together')
  .nullish()

const title = text(1, limits.title_chars, { trim: true })
const tags = z
  .array(text(1, limits.tag_chars, { trim: true }))
  .max(limits.tags)
  .transform(list => [...new Set(list)])
const model = text(1, 200)
const json_bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length
// Taken as it is, key for key, because it is echoed: a schema of records would make a new object of it.
const metadata = z
  .custom<Record<string, unknown>>(value => typeof value === 'object' && JSON.stringify(value)[0] === '{', 'must be an object')
  .refine(value => json_bytes(value) <= limits.metadata_bytes, 'must have at most 16 kB as JSON')
  .refine(value => isSoundJson(JSON.stringify(value)), unsound)
  .meta({ wire: { type: 'object', additionalProperties: {} } })
const budgetInput = z
  .object({
    max_cost_usd: z
      .union([z.number().nonnegative().max(1_000_000), z.string().regex(/^\d{1,7}(\.\d{1,8})?$/, 'must be a decimal number')])
      .transform(value => (typeof value === 'number' ? value.toFixed(8).replace(/\.?0+$/, '') : value))
      .nullish(),
    max_steps: z.int().min(1).max(100_000).nullish(),
    max_active_seconds: z.int().min(1).max(604_800).nullish(),
    max_wall_seconds: z.int().min(1).max(604_800).nullish(),
  })
  .meta({ id: 'BudgetInput' })

const webhooks = z
  .array(z.object({ url: z.url(), secret: z.string().nullish() }))
  .max(limits.webhooks)
  .nullish()

export const CreateRunInput = z
  .object({
    prompt,
    repo_id: z.int().min(0).nullish().describe("Absent: the organization's default or only repository"),
    repoless: z.boolean().optional().describe('With `repo_id` null: an empty workspace'),
    images,
    metadata: metadata.nullish(),
    model: model.nullish().describe('`provider/model`'),
    agent_type: text(1, 50).nullish(),
    base_ref: text(1, 255).nullish().describe('Branch, tag or commit to start from'),
    title: title.nullish(),
    tags: tags.nullish(),
    budget: budgetInput.nullish(),
    auto_create_pr: z.boolean().nullish(),
    parent_run_id: z.int().min(0).nullish(),
    webhooks,
  })
  .meta({ id: 'CreateAgentRunInput' })
export type CreateRunInput = z.output<typeof CreateRunInput>

export const ResumeRunInput = z
  .object({
    agent_run_id: z.int().min(0),
    prompt,
    mode: z.enum(['steer', 'enqueue', 'interrupt']).optional().describe('How a message reaches a run that is working; default `steer`'),
    images,
    model: model.nullish(),
    budget: budgetInput.nullish().describe('Replaces the limits that it names; a paused run goes on with them'),
    webhooks,
  })
  .meta({ id: 'ResumeAgentRunInput' })
export type ResumeRunInput = z.output<typeof ResumeRunInput>

export const RunReference = z.object({ agent_run_id: z.int().min(0) }).meta({ id: 'AgentRunReference' })

export const UpdateRunInput = z
  .object({
    title: title.optional(),
    tags: tags.optional(),
    archived: z.boolean().optional(),
    model: model.optional().describe('For the next turn'),
    budget: budgetInput.optional(),
  })
  .meta({ id: 'UpdateAgentRunInput' })
export type UpdateRunInput = z.output<typeof UpdateRunInput>

export const ListRunsQuery = z.object({
  ...pageQuery,
  user_id: id().optional(),
  source_type: SourceType.optional(),
  status: RunStatus.optional(),
  repo_id: id().optional(),
  tag: text(0, limits.tag_chars).optional(),
  q: text(0, 200).optional().describe('Text in title or prompt'),
  created_after: moment().optional(),
  created_before: moment().optional(),
  archived: flag().optional().describe('Default: only runs that are not archived'),
  parent_run_id: id().optional(),
})
export type ListRunsQuery = z.output<typeof ListRunsQuery>

export const RunPage = pageOf(AgentRun).meta({ id: 'PageOfAgentRun' })

export const ChangedFile = z
  .object({
    path: z.string(),
    old_path: z.string().nullable(),
    status: z.enum(['added', 'modified', 'deleted', 'renamed', 'copied', 'type_changed']),
    additions: z.int().nullable().describe('null for binary files'),
    deletions: z.int().nullable(),
    binary: z.boolean(),
  })
  .meta({ id: 'ChangedFile' })

export const RunDiff = z
  .object({
    agent_run_id: z.int(),
    base_sha: z.string().nullable(),
    head_sha: z.string().nullable(),
    files_changed: z.int(),
    additions: z.int(),
    deletions: z.int(),
    files: z.array(ChangedFile),
    patch: z.string().describe('Unified diff as git writes it'),
    patch_truncated: z.boolean(),
  })
  .meta({ id: 'AgentRunDiff' })
export type RunDiff = z.infer<typeof RunDiff>

export const EventsQuery = z.object({
  after_seq: decimal(0, limits.page_skip).optional().describe('Send entries after this `seq`; the header `Last-Event-ID` wins'),
})
