import { z } from 'zod'
import { ReasoningEffort } from './reasoning-effort-schema.ts'

/** The wire formats that a model can have. */
export const model_apis = [
  'anthropic-messages',
  'openai-responses',
  'openai-chat',
  'google-generate-content',
] as const
export type ModelApi = (typeof model_apis)[number]
/** Providers that have variables of their own. */
export const model_providers = ['anthropic', 'openai', 'google', 'openai-compatible'] as const
export type ModelProvider = (typeof model_providers)[number]
/**
 * Which tools change files: `edit` and `write`, or `apply_patch` in the format that GPT models are trained
 * on.
 */
export const tool_families = ['edit', 'apply_patch'] as const
export type ToolFamily = (typeof tool_families)[number]

const MAX_TOKENS = 100_000_000
const tokens = z.int().min(1_000).max(MAX_TOKENS)
const DOLLARS = /^\d{1,7}(\.\d{1,6})?$/
/** US dollars for a million tokens, as decimal text. */
const dollars = z
  .union([
    z.number().nonnegative().max(1_000_000),
    z.string().meta({ wire_rules: { pattern: DOLLARS.source } }),
  ])
  .transform(value => (typeof value === 'number' ? value.toFixed(6).replace(/\.?(?<!0)0+$/, '') : value))
  .refine(value => DOLLARS.test(value), 'must be US dollars for a million tokens, for example "2.5"')
const rate = {
  input: dollars.describe('Tokens of the prompt'),
  output: dollars.describe('Tokens of the response, thinking included'),
  cached: dollars.optional().describe('Tokens that the provider has in its cache; absent: as `input`'),
  cache_write: dollars.optional().describe('Tokens that it puts there; absent: as `input`'),
}
const filled = <T extends { input: string; cached?: string | undefined; cache_write?: string | undefined }>(
  price: T,
) => ({
  ...price,
  cached: price.cached ?? price.input,
  cache_write: price.cache_write ?? price.input,
})
const long = z
  .strictObject({ over_tokens: tokens.describe('Tokens of the prompt'), ...rate })
  .transform(filled)
const priceInput = z
  .strictObject({
    ...rate,
    long: long.optional().describe('The price of calls whose prompt has more tokens'),
  })
  .transform(({ long, ...short }) => ({ ...filled(short), ...(long && { long }) }))

/** What can be set of a model, in AGENTRUN_MODELS and by the API. */
export const modelFields = {
  label: z.string().min(1).max(100).optional().describe('Name to show; absent: the id without the provider'),
  api: z
    .enum(model_apis)
    .optional()
    .describe(
      'Wire format of a model with an address of its own; absent: a model of a provider that has its own',
    ),
  base_url: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .describe('Address of the API, with its path; required with `api`'),
  name: z
    .string()
    .min(1)
    .max(200)
    .regex(/^\S+$/, 'must have no blanks')
    .optional()
    .describe('Name of the model in its API; absent: the id without the provider'),
  context_tokens: tokens.optional().describe('Tokens of its context'),
  max_output_tokens: tokens.optional().describe('Tokens of its longest response'),
  price: priceInput
    .optional()
    .describe('US dollars for a million tokens; absent and unknown to the service: budgets do not limit it'),
  cache_marks: z
    .boolean()
    .optional()
    .describe('Whether requests mark the part that the provider should cache'),
  reasoning_effort: ReasoningEffort.nullable()
    .optional()
    .describe('Default reasoning effort; null: the provider decides'),
  tool_family: z.enum(tool_families).optional().describe('The tools with which it changes files'),
}

/**
 * Reports the address, key or name of a model without `api`: a model of a provider that has its own takes
 * none of them.
 */
export function requireApi(
  { api, base_url, ...others }: { api?: unknown; base_url?: unknown } & Record<string, unknown>,
  issue: (path: string, message: string) => void,
): void {
  if (api !== undefined && base_url === undefined) issue('base_url', 'is required beside api')
  for (const [field, value] of Object.entries({ base_url, ...others }))
    if (api === undefined && value !== undefined) issue(field, 'needs api')
}

/**
 * Returns what is wrong with a model that has neither `api` nor a provider with variables of its own; null:
 * nothing.
 */
export function missingApi(id: string, api: unknown): string | null {
  const provider = id.slice(0, id.indexOf('/'))
  if (api !== undefined || model_providers.some(known => known === provider)) return null
  return `is required, because ${provider} is none of ${model_providers.join(', ')}`
}

/** What an organization has stored of a model, or of a provider. */
export const StoredModelSettings = z.object(modelFields)
export type StoredModelSettings = z.output<typeof StoredModelSettings>

const model = z
  .strictObject({
    ...modelFields,
    api_key_env: z
      .string()
      .regex(/^[A-Z_][A-Z0-9_]*$/, 'must be the name of an environment variable')
      .optional(),
  })
  .superRefine(({ api, base_url, api_key_env, name }, ctx) => {
    requireApi({ api, base_url, api_key_env, name }, (path, message) =>
      ctx.addIssue({ code: 'custom', path: [path], message }),
    )
  })

const id_message = 'must be provider/model, and no provider is named scripted'
export const modelId = z
  .string()
  .regex(/^[a-z][a-z-]*\/\S{1,200}$/, id_message)
  .refine(id => !id.startsWith('scripted/'), id_message)

const schema = z.record(modelId, model).superRefine((models, ctx) => {
  for (const [id, { api }] of Object.entries(models)) {
    const message = missingApi(id, api)
    if (message !== null) ctx.addIssue({ code: 'custom', path: [id, 'api'], message })
  }
})

/**
 * What AGENTRUN_MODELS states about one model. With `api` it is a model of the server at `base_url`,
 * otherwise one of a provider that has its own variables. `api_key` is the value of the variable
 * `api_key_env`.
 */
export type ModelSettings = z.output<typeof model> & { api_key?: string }

/**
 * Parses the JSON of AGENTRUN_MODELS. Returns the models by id, or every mistake with its field
 * (docs/reference/configuration.md#models).
 */
export function readModelSettings(
  text: string,
): { models: Record<string, ModelSettings> } | { mistakes: string[] } {
  const read = readJsonSetting(schema, text)
  return 'value' in read ? { models: read.value } : read
}

/** Parses a setting whose value is JSON. Returns the value, or every mistake with its field. */
export function readJsonSetting<T>(
  schema: z.ZodType<T>,
  text: string,
): { value: T } | { mistakes: string[] } {
  const parsed = schema.safeParse(parseJson(text))
  if (parsed.success) return { value: parsed.data }
  const mistakes = parsed.error.issues.map(issue => {
    const message =
      issue.code === 'invalid_key' ? issue.issues.map(inner => inner.message).join(', ') : issue.message
    return [issue.path.map(String).join(', '), message].filter(text => text !== '').join(' ')
  })
  return { mistakes }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
