import { z } from 'zod'
import { limits } from '../limits.ts'
import { model_apis } from '../model-settings.ts'
import { money, moneyInput } from '../money.ts'
import { pageOf } from '../page.ts'
import { ReasoningEffort, reasoningEffortInput } from '../reasoning-effort-schema.ts'
import { ReviewMode, reviewModeInput } from '../review-mode-schema.ts'
import { text } from '../text.ts'
import { agent_permissions } from './agent-permissions.ts'
import { branchPrefixInput } from './branch-prefix.ts'

const switches = {
  enable_pr_creation: z.boolean().describe('Whether runs propose a pull request by default'),
  enable_rules_detection: z
    .boolean()
    .describe('Whether rules for agents, like AGENTS.md, are read from repositories'),
}
const AgentPermissions = z.enum(agent_permissions, {
  error: `must be one of ${agent_permissions.join(', ')}`,
})

const settings = {
  default_repo_id: z.int().nullable().describe('Used by runs that name no repository'),
  default_model: z
    .string()
    .nullable()
    .describe("Used by runs that name no model; null: the service's default"),
  reasoning_effort: ReasoningEffort.nullable().describe(
    "Reasoning effort of its runs; null: the model's default",
  ),
  review: ReviewMode.nullable().describe(
    "Reviewer of the changes of its runs: `model` or `rules`; null: the service's default",
  ),
  agent_permissions: AgentPermissions.nullable().describe(
    'Response to requests of agents of other vendors for permissions, if no stricter one is set for the agent; null: the one of the agent',
  ),
  branch_prefix: z
    .string()
    .nullable()
    .describe('Beginning of the names of its runs’ branches; null: `agent/`'),
  approval_paths: z
    .array(z.string())
    .nullable()
    .describe(
      'Globs of files: a commit that changes one waits for an approval before it is pushed, or null for only those of the service',
    ),
  rules: z.string().nullable().describe('Given to the agent of every run'),
  max_concurrent_runs: z
    .int()
    .nullable()
    .describe('Maximum number of runs that are active at the same time; null: no limit'),
  budget_usd_per_month: money
    .nullable()
    .describe('The cost limit per month (UTC) in US dollars; null: no limit'),
  runs_per_month: z
    .int()
    .nullable()
    .describe('Maximum number of runs created in a month (UTC); null: no limit'),
}
const example = {
  id: 1,
  name: 'My organization',
  settings: { enable_pr_creation: true, enable_rules_detection: true },
}
const settings_example = {
  default_repo_id: 7,
  default_model: 'anthropic/claude-sonnet-4-5',
  reasoning_effort: null,
  review: null,
  agent_permissions: null,
  branch_prefix: null,
  approval_paths: ['infra/', '*.sql'],
  rules: 'Every change has a test.',
  max_concurrent_runs: 4,
  budget_usd_per_month: '250',
  runs_per_month: null,
}

const Organization = z
  .object({
    id: z.int().describe('The organization'),
    name: z.string().describe('Display name'),
    settings: z.object(switches).describe('Defaults of its runs'),
  })
  .meta({ id: 'OrganizationResponse', examples: [example] })

export const OrganizationDetail = Organization.extend(settings).meta({
  id: 'OrganizationDetailResponse',
  examples: [{ ...example, ...settings_example }],
})

export const OrganizationSettings = z
  .object({ ...switches, ...settings })
  .meta({ id: 'OrganizationSettingsResponse', examples: [{ ...example.settings, ...settings_example }] })

const name = text(1, limits.name_chars, { trim: true }).describe('Display name')

export const CreateOrganizationInput = z
  .object({ name })
  .meta({ id: 'CreateOrganizationInput', examples: [{ name: 'Acme' }] })
export type CreateOrganizationInput = z.output<typeof CreateOrganizationInput>

export const UpdateOrganizationInput = z
  .object({
    name: name.optional(),
    settings: z
      .object({
        enable_pr_creation: switches.enable_pr_creation.optional(),
        enable_rules_detection: switches.enable_rules_detection.optional(),
      })
      .optional()
      .describe('Defaults of its runs; an absent key is unchanged'),
    default_repo_id: z.int().min(0).nullish().describe('The repository of runs that name none, or null'),
    default_model: text(1, 200)
      .nullish()
      .describe("Used by runs that name no model, `provider/model`; null: the service's default"),
    reasoning_effort: reasoningEffortInput.describe(
      "Reasoning effort of runs where neither the request nor the repository sets it; null: the model's default",
    ),
    review: reviewModeInput.describe(
      "Reviewer of the changes of runs where neither the request nor the repository sets it: `model`, or `rules` without model calls; null: the service's default",
    ),
    agent_permissions: AgentPermissions.nullish().describe(
      "Response to requests of agents of other vendors for permissions: `allow`, `deny`, or `ask`: the run waits for a person's decision. A stricter one that the operator has set for an agent stays; null: the one of the agent",
    ),
    branch_prefix: branchPrefixInput.describe(
      'Beginning of the names of branches of runs where the repository sets none, for a server that accepts only such names: `run-{id}-{words}` follows it; null: `agent/`',
    ),
    approval_paths: z
      .array(text(1, limits.approval_path_chars, { trim: true }))
      .max(limits.approval_paths)
      .nullish()
      .describe(
        'Globs of files, in addition to those of the service, whose change waits for an approval before it is pushed. `*` is any part of a name, `**` any folders, `/` at the end everything below; a glob with a `/` inside begins at the root. Null and an empty list name no file',
      ),
    rules: text(0, limits.rules_chars, { trim: true })
      .nullish()
      .describe('Rules for the agent of every run, or null'),
    max_concurrent_runs: z
      .int()
      .min(1)
      .max(10_000)
      .nullish()
      .describe('Further runs wait in the queue; null: no limit'),
    budget_usd_per_month: moneyInput
      .nullish()
      .describe(
        'US dollars per month (UTC): when they are reached, create and resume respond with 402; null: no limit',
      ),
    runs_per_month: z
      .int()
      .min(0)
      .max(1_000_000_000)
      .nullish()
      .describe(
        'Maximum number of runs created in a month (UTC): when it is reached, create and resume respond with 402; null: no limit',
      ),
  })
  .meta({
    id: 'UpdateOrganizationInput',
    examples: [{ rules: 'Every change has a test.', settings: { enable_pr_creation: false } }],
  })
export type UpdateOrganizationInput = z.output<typeof UpdateOrganizationInput>

const ModelOption = z.object({
  label: z.string().describe('Display name'),
  value: z.string().describe('Name of the model, as `model` of a run accepts it'),
})

export const Models = z
  .object({
    providers: z
      .array(
        z.object({
          name: z.string().describe('The provider'),
          models: z.array(ModelOption).describe('Its models'),
        }),
      )
      .describe('Providers that can be called'),
    default_model: z.string().describe('Used by runs that name none'),
  })
  .meta({
    id: 'ModelsResponse',
    examples: [
      {
        providers: [
          {
            name: 'Anthropic',
            models: [{ label: 'Claude Sonnet 4.5', value: 'anthropic/claude-sonnet-4-5' }],
          },
        ],
        default_model: 'anthropic/claude-sonnet-4-5',
      },
    ],
  })

export const Agents = z
  .object({
    agents: z
      .array(
        z.object({
          agent_type: z.string().describe('The name in a request'),
          label: z.string().describe('Name to show'),
          apis: z
            .array(z.enum(model_apis))
            .nullable()
            .describe('Wire formats in which it can call a model; null: all of them'),
          version: z
            .string()
            .nullable()
            .describe(
              'Version of its npm package that is installed on the machine of the API; null: unknown',
            ),
          tested_version: z
            .string()
            .nullable()
            .describe('Version that the service was tested with; null: the service does not know the agent'),
          permissions: z
            .enum(agent_permissions)
            .nullable()
            .describe(
              'The response to its requests for permissions in this organization. An agent that requests none is limited by its sandbox alone: the service makes known agents request them unless the operator has set their command; null: it has none',
            ),
        }),
      )
      .describe('The built-in agent, and those that the operator has registered'),
    default_agent: z.string().describe('Used by runs that name none'),
  })
  .meta({
    id: 'AgentsResponse',
    examples: [
      {
        agents: [
          {
            agent_type: 'built_in',
            label: 'Built-in',
            apis: null,
            version: null,
            tested_version: null,
            permissions: null,
          },
          {
            agent_type: 'codex',
            label: 'Codex',
            apis: ['openai-responses'],
            version: '2.6.0',
            tested_version: '2.6.0',
            permissions: 'allow',
          },
        ],
        default_agent: 'built_in',
      },
    ],
  })

export const OrganizationPage = pageOf(Organization).meta({ id: 'PageOfOrganization' })
