import { z } from 'zod'
import { decimal, flag, id, moment } from './decimal.ts'
import { limits } from './limits.ts'
import { pageQuery } from './page.ts'
import { RunStatus, SourceType } from './runs.ts'
import { isSoundJson, text, unsound } from './text.ts'

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

export const EventsQuery = z.object({
  after_seq: decimal(0, limits.page_skip).optional().describe('Send entries after this `seq`; the header `Last-Event-ID` wins'),
})
