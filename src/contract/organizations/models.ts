import { z } from 'zod'
import {
  missingApi,
  model_apis,
  model_providers,
  modelFields,
  modelId,
  requireApi,
  tool_families,
} from '../model-settings.ts'
import { ReasoningEffort } from '../reasoning-effort-schema.ts'
import { text } from '../text.ts'

const rate = {
  input: z.string().describe('Tokens of the prompt'),
  output: z.string().describe('Tokens of the response, thinking included'),
  cached: z.string().describe('Tokens that the provider has in its cache'),
  cache_write: z.string().describe('Tokens that it puts there'),
}
const ModelPrice = z
  .object({
    ...rate,
    long: z
      .object({ over_tokens: z.int().describe('Tokens of the prompt'), ...rate })
      .optional()
      .describe('The price of calls whose prompt has more tokens'),
  })
  .meta({ id: 'ModelPrice', description: 'US dollars for a million tokens, as decimal strings' })

const source = z
  .enum(['organization', 'service'])
  .describe('`organization`: set by this API; `service`: by the operator, or known to the service')
const changed = {
  updated_at: z.iso.datetime().nullable().describe('Time at which the organization set it; null: it did not'),
  updated_by: z.int().nullable().describe('The user who set it'),
}

const exampleModel = {
  id: 'acme/coder',
  label: 'Acme Coder',
  provider: 'acme',
  source: 'organization',
  usable: true,
  api: 'openai-chat',
  base_url: 'https://models.example.com/v1',
  name: null,
  cache_marks: false,
  has_key: true,
  context_tokens: 200_000,
  max_output_tokens: 32_000,
  price: { input: '1', output: '4', cached: '0.1', cache_write: '1' },
  reasoning_effort: 'medium',
  tool_family: 'edit',
  updated_at: '2026-11-20T10:30:00.000Z',
  updated_by: 1,
}

export const ModelDetail = z
  .object({
    id: z.string().describe('Name of the model, as `model` of a run accepts it: `provider/model`'),
    label: z.string().describe('Display name'),
    provider: z.string().describe('The provider'),
    source,
    usable: z.boolean().describe('Whether it can be called: its provider has a key, or needs none'),
    api: z.enum(model_apis).nullable().describe('Wire format, of a model with an address of its own'),
    base_url: z.string().nullable().describe('Address that the organization set'),
    name: z.string().nullable().describe('Name at that address; null: what follows the provider in `id`'),
    cache_marks: z
      .boolean()
      .describe('Whether the organization set that requests mark the part that the provider should cache'),
    has_key: z.boolean().describe('Whether the organization set a key for this model alone'),
    context_tokens: z.int().nullable().describe('Tokens of its context; null: unknown'),
    max_output_tokens: z.int().nullable().describe('Tokens of its longest response; null: unknown'),
    price: ModelPrice.nullable().describe('null: unknown; then budgets do not limit it'),
    reasoning_effort: ReasoningEffort.nullable().describe(
      'Default reasoning effort; null: the provider decides',
    ),
    tool_family: z.enum(tool_families).describe('The tools with which it changes files'),
    ...changed,
  })
  .meta({ id: 'ModelDetail', examples: [exampleModel] })
export type ModelDetail = z.infer<typeof ModelDetail>

export const ProviderDetail = z
  .object({
    provider: z.enum(model_providers).describe('The provider'),
    source: source.nullable().describe('Owner of the key that its models use; null: there is none'),
    base_url: z
      .string()
      .nullable()
      .describe("Address that the organization set; null: the service's or the provider's own"),
    ...changed,
  })
  .meta({
    id: 'ModelProviderDetail',
    examples: [
      {
        provider: 'anthropic',
        source: 'organization',
        base_url: null,
        updated_at: '2026-11-20T10:30:00.000Z',
        updated_by: 1,
      },
    ],
  })
export type ProviderDetail = z.infer<typeof ProviderDetail>

export const ModelSettingsList = z
  .object({
    default_model: z.string().describe('Used by runs that name none'),
    providers: z.array(ProviderDetail).describe('All providers with a key of their own'),
    models: z.array(ModelDetail).describe('All known or configured models'),
  })
  .meta({
    id: 'ModelSettingsResponse',
    examples: [
      {
        default_model: 'acme/coder',
        providers: [
          { provider: 'anthropic', source: 'service', base_url: null, updated_at: null, updated_by: null },
        ],
        models: [exampleModel],
      },
    ],
  })
export type ModelSettingsList = z.infer<typeof ModelSettingsList>

/** Printable ASCII without blanks: it goes into a header. */
const key = z
  .string()
  .regex(/^[\x21-\x7e]{8,4096}$/, 'must be 8 to 4096 printable ASCII characters without blanks')
  .describe('The key; it is never shown again')
const address = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2_000)
  .describe('Address of the API, with its path')

export const ProviderInput = z
  .object({
    api_key: key
      .optional()
      .describe('The key; required except for `openai-compatible`. It is never shown again'),
    base_url: address
      .optional()
      .describe("Required for `openai-compatible`; absent for others: the provider's own"),
  })
  .meta({ id: 'ModelProviderInput', examples: [{ api_key: 'sk-0123456789abcdef' }] })
export type ProviderInput = z.output<typeof ProviderInput>

export const ModelInput = z
  .object({
    id: modelId.describe('`provider/model`'),
    ...modelFields,
    api_key: key
      .nullish()
      .describe('For a model with `api`, or null; absent: as before, if the address is the same'),
  })
  .superRefine(({ id, api, base_url, name, api_key }, ctx) => {
    const issue = (path: string, message: string) => ctx.addIssue({ code: 'custom', path: [path], message })
    requireApi({ api, base_url, name, api_key: api_key ?? undefined }, issue)
    const message = missingApi(id, api)
    if (message !== null) issue('api', message)
  })
  .meta({
    id: 'ModelInput',
    examples: [
      {
        id: 'acme/coder',
        label: 'Acme Coder',
        api: 'openai-chat',
        base_url: 'https://models.example.com/v1',
        api_key: 'sk-0123456789abcdef',
        context_tokens: 200_000,
        max_output_tokens: 32_000,
        price: { input: '1', output: '4' },
      },
    ],
  })
export type ModelInput = z.output<typeof ModelInput>

export const DeleteModelQuery = z.object({ id: text(1, 250).describe('`provider/model`') })

export const TestModelInput = z
  .object({ model: text(1, 250).describe('`provider/model`') })
  .meta({ id: 'TestModelInput', examples: [{ model: 'acme/coder' }] })

export const ModelTest = z
  .object({
    model: z.string().describe('The model'),
    ok: z.boolean().describe('Whether it responded'),
    latency_ms: z.int().describe('Milliseconds until the response or the refusal'),
    error: z
      .object({
        code: z
          .enum([
            'auth',
            'rate_limited',
            'unavailable',
            'timeout',
            'malformed',
            'context_exceeded',
            'rejected',
            'aborted',
            'script_failed',
          ])
          .describe(
            '`auth`: the key is missing, wrong or revoked; `rejected`: for example an unknown model; `unavailable`: no connection',
          ),
        message: z.string().describe('Message of the provider, without the key'),
        http_status: z.int().nullable().describe('Status of its response; null: there was none'),
      })
      .nullable()
      .describe('null: it responded'),
    cost_usd: z
      .string()
      .nullable()
      .describe(
        'US dollars that the call cost, as a decimal string; null: unknown. It is not counted in the usage',
      ),
  })
  .meta({
    id: 'ModelTest',
    examples: [{ model: 'acme/coder', ok: true, latency_ms: 812, error: null, cost_usd: '0.00001' }],
  })
export type ModelTest = z.infer<typeof ModelTest>

export const providerParam = () =>
  z.enum(model_providers, { error: `must be one of ${model_providers.join(', ')}` }).describe('The provider')
