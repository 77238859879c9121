import { z } from 'zod'

// The responses that generated clients of the public API accept, derived from its published models and not
// from our contract. Types are strict, as in those clients: an integer is not a text, a text is not a number.
// Unknown keys are ignored.

const whole = z.int()
const text = z.string()
const maybe = <T extends z.ZodType>(schema: T) => schema.nullish()
const json = z.record(z.string(), z.unknown())

export const sourceTypes = [
  ...[
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
  ],
  'SETUP_COMMANDS',
] as const

const page = <T extends z.ZodType>(item: T) =>
  z.looseObject({ items: z.array(item), total: whole, page: whole, size: whole, pages: whole })

const GithubPullRequest = z.looseObject({
  id: whole,
  title: maybe(text),
  url: maybe(text),
  created_at: text,
  head_branch_name: maybe(text),
})
const AgentRun = z.looseObject({
  id: whole,
  organization_id: whole,
  status: maybe(text),
  created_at: maybe(text),
  web_url: maybe(text),
  result: maybe(text),
  summary: maybe(text),
  source_type: maybe(z.enum(sourceTypes)),
  github_pull_requests: maybe(z.array(GithubPullRequest)),
  metadata: maybe(json),
})
const AgentRunLog = z.looseObject({
  agent_run_id: whole,
  created_at: maybe(text),
  tool_name: maybe(text),
  message_type: maybe(text),
  thought: maybe(text),
  observation: maybe(z.union([json, text])),
  tool_input: maybe(json),
  tool_output: maybe(json),
})
const User = z.looseObject({
  id: whole,
  email: maybe(text),
  github_user_id: text,
  github_username: text,
  avatar_url: maybe(text),
  full_name: maybe(text),
  role: maybe(text),
  is_admin: maybe(z.boolean()),
})
const Settings = z.looseObject({
  enable_pr_creation: z.boolean().optional(),
  enable_rules_detection: z.boolean().optional(),
})
const Organization = z.looseObject({ id: whole, name: text, settings: Settings })
const Repo = z.looseObject({
  id: whole,
  name: text,
  full_name: text,
  description: text.nullable(),
  github_id: text,
  organization_id: whole,
  visibility: text.nullable(),
  archived: z.boolean().nullable(),
  setup_status: text,
  language: text.nullable(),
})

/** By their names in the public document. */
export const models = {
  AgentRunResponse: AgentRun,
  AgentRunWithLogsResponse: z.looseObject({
    id: whole,
    organization_id: whole,
    status: maybe(text),
    created_at: maybe(text),
    web_url: maybe(text),
    result: maybe(text),
    metadata: maybe(json),
    logs: z.array(AgentRunLog),
    total_logs: maybe(whole),
    page: maybe(whole),
    size: maybe(whole),
    pages: maybe(whole),
  }),
  Page_AgentRunResponse_: page(AgentRun),
  UserResponse: User,
  Page_UserResponse_: page(User),
  OrganizationResponse: Organization,
  Page_OrganizationResponse_: page(Organization),
  OrganizationSettings: Settings,
  RepoResponse: Repo,
  Page_RepoResponse_: page(Repo),
  ModelsResponse: z.looseObject({
    providers: z.array(
      z.looseObject({ name: text, models: z.array(z.looseObject({ label: text, value: text })) }),
    ),
    default_model: text,
  }),
  EditPRResponse: z.looseObject({
    success: z.boolean(),
    url: maybe(text),
    number: maybe(whole),
    title: maybe(text),
    state: maybe(text),
    error: maybe(text),
  }),
  CheckSuiteSettingsResponse: z.looseObject({
    check_retry_count: whole,
    ignored_checks: z.array(text),
    check_retry_counts: z.record(z.string(), whole),
    custom_prompts: z.record(z.string(), text),
    high_priority_apps: z.array(text),
    available_check_suite_names: z.array(text),
  }),
  OrganizationIntegrationsResponse: z.looseObject({
    organization_id: whole,
    organization_name: text,
    integrations: z.array(
      z.looseObject({
        integration_type: text,
        active: z.boolean(),
        token_id: maybe(whole),
        installation_id: maybe(whole),
        metadata: maybe(json),
      }),
    ),
    total_active_integrations: whole,
  }),
  CLIRulesResponse: z.looseObject({
    organization_rules: text.nullable(),
    user_custom_prompt: text.nullable(),
  }),
  WebhookConfigResponse: z.looseObject({
    url: text.nullable(),
    enabled: z.boolean(),
    has_secret: z.boolean(),
  }),
  SetupCommandsResponse: z.looseObject({ agent_run_id: whole, status: text, url: text }),
  /** The model of ban, unban and remove-from-pr. */
  BanActionResponse: z.looseObject({ message: maybe(text), status_code: maybe(whole) }),
  /** 402, 403, 404 and 429. */
  ErrorResponse: z.looseObject({ message: text, status_code: whole, detail: text }),
  /** 422. */
  HTTPValidationError: z.looseObject({
    detail: z.array(z.looseObject({ loc: z.array(z.union([text, whole])), msg: text, type: text })),
  }),
} as const satisfies Record<string, z.ZodType>
