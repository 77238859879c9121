import { z } from 'zod'
import { decimal, flag, id, moment } from '../decimal.ts'
import { limits } from '../limits.ts'
import { moneyInput } from '../money.ts'
import { WebhookTargets } from '../organizations/webhook-targets.ts'
import { pageQuery } from '../page.ts'
import { reasoningEffortInput } from '../reasoning-effort-schema.ts'
import { reviewModeInput } from '../review-mode-schema.ts'
import { several } from '../several.ts'
import { isSoundJson, text, unsound } from '../text.ts'
import { optionalTools } from './action-tools.ts'
import { exampleRun } from './example-run.ts'
import { type ByLimit, byLimit, run_limits } from './run-limits.ts'
import { RunStatus, SourceType, StatusReason } from './runs.ts'

const prompt = text(1, limits.prompt_chars, { trim: true, error: 'is required and must be a string' })

const IMAGE = String.raw`^data:image\/(png|jpeg|gif|webp);base64,`
const image_start = new RegExp(IMAGE)

/** In two steps: one pattern for megabytes of letters exhausts the stack of V8's regular expressions. */
function isImage(uri: string): boolean {
  const [start] = image_start.exec(uri.slice(0, 40)) ?? []
  return start !== undefined && uri.length > start.length && !/[^A-Za-z0-9+/=]/.test(uri.slice(start.length))
}

const images = z
  .array(
    z
      .string()
      .refine(isImage, 'must be a base64 data URI of a PNG, JPEG, GIF or WebP image')
      .meta({ wire: { type: 'string', pattern: `${IMAGE}[A-Za-z0-9+/=]+$` } }),
  )
  .max(limits.images)
  .refine(
    list => list.reduce((sum, uri) => sum + uri.length, 0) <= limits.images_bytes,
    'images must have at most 16 MB together',
  )
  .nullish()

const title = text(1, limits.title_chars, { trim: true })
const tags = z
  .array(text(1, limits.tag_chars, { trim: true }))
  .max(limits.tags)
  .transform(list => [...new Set(list)])
const model = text(1, 200)
const toolsOff = z
  .array(z.enum(optionalTools))
  .max(100)
  .transform(names => [...new Set(names)])
const json_bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length
// Accepted unchanged, key for key, because it is echoed: a schema of records would create a new object.
const metadata = z
  .custom<Record<string, unknown>>(
    value => typeof value === 'object' && JSON.stringify(value)[0] === '{',
    'must be an object',
  )
  .refine(value => json_bytes(value) <= limits.metadata_bytes, 'must have at most 16 kB as JSON')
  .refine(value => isSoundJson(JSON.stringify(value)), unsound)
  .meta({ wire: { type: 'object', additionalProperties: {} } })
const usdInput = moneyInput.nullish()
const countInput = z.int().min(1).nullish()
const budgetInput = z
  .object(
    byLimit<ByLimit<typeof usdInput, typeof countInput>>(name => {
      const limit = run_limits[name]
      const input = limit.unit === 'usd' ? usdInput : z.int().min(1).max(limit.max).nullish()
      return input.describe(limit.about)
    }),
  )
  .meta({ id: 'BudgetInput' })

const webhooks = WebhookTargets.nullish().describe(
  "Webhooks that receive the events of the run instead of the organization's webhook; an empty list disables them",
)

export const CreateRunInput = z
  .object({
    prompt: prompt.describe('Task of the agent'),
    repo_id: z.int().min(0).nullish().describe("Absent: the organization's default or only repository"),
    repoless: z.boolean().optional().describe('With `repo_id` null: an empty workspace'),
    images: images.describe('PNG, JPEG, GIF or WebP as base64 data URIs, 16 MB in total'),
    metadata: metadata.nullish().describe('Any object of at most 16 kB as JSON; returned unchanged'),
    model: model.nullish().describe('`provider/model`'),
    reasoning_effort: reasoningEffortInput.describe(
      "Reasoning effort of the model; default: the repository's, else the organization's, else the model's: `high` for Claude, `medium` for others",
    ),
    review: reviewModeInput.describe(
      "Reviewer of the change before its push: `model`, or `rules` without model calls; default: the repository's, else the organization's, else the service's",
    ),
    tools_off: toolsOff
      .nullish()
      .describe(
        'Tools that the agent of this run, its forks and its child runs may not use; any but `finish`. Default: none',
      ),
    agent_type: text(1, 50).nullish().describe('The agent that executes the run; default `built_in`'),
    base_ref: text(1, 255).nullish().describe('Branch, tag or commit to start from'),
    title: title.nullish().describe('Display name; default: derived from the prompt'),
    tags: tags.nullish().describe('Search words'),
    budget: budgetInput.nullish().describe('Limits of the run over all turns; reaching one pauses it'),
    auto_create_pr: z
      .boolean()
      .nullish()
      .describe("Propose a pull request; default: the organization's setting"),
    parent_run_id: z.int().min(0).nullish().describe('A run of yours that this one belongs to'),
    webhooks,
  })
  .meta({
    id: 'CreateAgentRunInput',
    examples: [
      {
        prompt: exampleRun.prompt,
        repo_id: 1,
        base_ref: 'main',
        title: exampleRun.title,
        tags: exampleRun.tags,
        metadata: exampleRun.metadata,
        budget: { max_cost_usd: '2.5' },
      },
    ],
  })
export type CreateRunInput = z.output<typeof CreateRunInput>

export const CreateRunQuery = z.object({
  dry_run: flag()
    .optional()
    .describe(
      '`true` creates nothing and responds as `dryRunAgentRun`, which clients with generated types should call instead',
    )
    .meta({ deprecated: true }),
})

export const ResumeRunInput = z
  .object({
    agent_run_id: z.int().min(0).describe('The run'),
    prompt: prompt.describe('The follow-up, or the answer to the question of the run'),
    mode: z
      .enum(['steer', 'enqueue', 'interrupt'])
      .optional()
      .describe('Delivery of a message to an active run; default `steer`'),
    images: images.describe('As in the request that creates a run'),
    model: model.nullish().describe('For this turn and later ones; default: unchanged'),
    reasoning_effort: reasoningEffortInput.describe(
      "For this turn and later ones; null: the model's default; absent: unchanged",
    ),
    review: reviewModeInput.describe(
      "For this turn and later ones; null: the service's default; absent: unchanged",
    ),
    budget: budgetInput
      .nullish()
      .describe('New values of the named limits; a paused run continues with them'),
    approve: z
      .boolean()
      .nullish()
      .describe(
        'For a run that waits for `tool_approval`: true permits the push of the shown change, and the agent is not called again, or the shown tool call of an agent of another vendor; otherwise the prompt goes to the agent',
      ),
    expected_head_sha: z
      .string()
      .regex(/^[0-9a-f]{40}$/, 'must be a whole commit SHA, or the digest of a tool call')
      .nullish()
      .describe(
        'With `approve`: what must still be waiting, as in `head_sha` of the newest `COMMIT_EVALUATION`, or in `approval` of the output of the newest `ACTION`',
      ),
    webhooks,
  })
  .meta({
    id: 'ResumeAgentRunInput',
    examples: [{ agent_run_id: exampleRun.id, prompt: 'Add a line to the changelog, too.' }],
  })
export type ResumeRunInput = z.output<typeof ResumeRunInput>

export const ForkRunInput = z
  .object({
    agent_run_id: z.int().min(0).describe('The run to fork'),
    from_seq: z.int().min(1).describe('The last entry of its trace that the new run copies'),
    prompt: prompt.nullish().describe('Task of the agent from there on; default `Continue.`'),
  })
  .meta({
    id: 'ForkAgentRunInput',
    examples: [{ agent_run_id: exampleRun.id, from_seq: 5, prompt: 'Try it without a discount.' }],
  })
export type ForkRunInput = z.output<typeof ForkRunInput>

const { agent_run_id: _in_the_path, prompt: _or_instruction, ...follow_up } = ResumeRunInput.shape

/** The same for the path that names the run; some clients call the prompt `instruction` there. */
export const ResumeRunByIdInput = z
  .object({
    prompt: prompt
      .nullish()
      .describe(
        'The follow-up, or the answer to the question of the run; required, here or as `instruction`',
      ),
    instruction: prompt.nullish().describe('Another name of `prompt`, which takes precedence'),
    ...follow_up,
  })
  .meta({ id: 'ResumeAgentRunByIdInput', examples: [{ prompt: 'Add a line to the changelog, too.' }] })
  .transform(({ prompt, instruction, ...rest }, ctx) => {
    const given_prompt = prompt ?? instruction
    if (given_prompt != null) return { ...rest, prompt: given_prompt }
    ctx.addIssue({ code: 'custom', path: ['prompt'], message: 'is required and must be a string' })
    return z.NEVER
  })

/**
 * The body that existing clients send to stop, ban and the like: positions of cards on their boards are
 * accepted and ignored.
 */
export const StopRunInput = z
  .object({
    agent_run_id: z.int().min(0).describe('The run'),
    before_card_order_id: z.string().nullish().describe('Ignored'),
    after_card_order_id: z.string().nullish().describe('Ignored'),
  })
  .meta({ id: 'StopAgentRunInput', examples: [{ agent_run_id: exampleRun.id }] })

export const RunReference = z
  .object({ agent_run_id: z.int().min(0).describe('The run') })
  .meta({ id: 'AgentRunReference', examples: [{ agent_run_id: exampleRun.id }] })

export const UpdateRunInput = z
  .object({
    title: title.optional().describe('Display name'),
    tags: tags.optional().describe('Search words that replace the current ones'),
    archived: z.boolean().optional().describe('Whether the default list omits it'),
    model: model.optional().describe('For the next turn'),
    reasoning_effort: reasoningEffortInput.describe("For the next turn; null: the model's default"),
    review: reviewModeInput.describe("For the next turn; null: the service's default"),
    budget: budgetInput.optional().describe('New values of the named limits'),
  })
  .meta({
    id: 'UpdateAgentRunInput',
    examples: [{ title: 'Discount before tax', tags: ['billing', 'reviewed'] }],
  })
export type UpdateRunInput = z.output<typeof UpdateRunInput>

export const ListRunsQuery = z.object({
  ...pageQuery,
  user_id: several(id()).describe('Only runs that one of these users requested'),
  source_type: several(SourceType).describe('Only runs from one of these sources'),
  status: several(RunStatus).describe('Only runs in one of these statuses'),
  status_reason: several(StatusReason).describe(
    'Only runs that failed, are paused, or completed with one of these reasons',
  ),
  model: several(text(1, 250)).describe('Only runs with one of these models, `provider/model`'),
  repo_id: several(id()).describe('Only runs on one of these repositories'),
  tag: several(text(0, limits.tag_chars), { commas: false }).describe(
    'Only runs with one of these tags; repeat the parameter, because a tag may contain commas',
  ),
  q: text(0, 200).optional().describe('Text in title or prompt'),
  created_after: moment().optional().describe('Only runs created after this time; ISO 8601 with zone'),
  created_before: moment().optional().describe('Only runs created before this time; ISO 8601 with zone'),
  archived: flag().optional().describe('Default: only runs that are not archived'),
  parent_run_id: several(id()).describe('Only runs that belong to one of these'),
})
export type ListRunsQuery = z.output<typeof ListRunsQuery>

export const EventsQuery = z.object({
  after_seq: decimal(0, limits.page_skip)
    .optional()
    .describe('Send entries after this `seq`; the header `Last-Event-ID` wins'),
})
