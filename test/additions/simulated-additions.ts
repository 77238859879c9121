import type { Insertion } from './source-copy.ts'

/**
 * `what`: the row of ARCHITECTURE.md. The insertions are the beginning of such an addition, at which the
 * compiler has to name every other file that the row marks. `names`: of what is added, of which each of its
 * errors contains one. `round`: additions of different rounds are compiled apart, because one would hide
 * errors of the other.
 */
export type SimulatedAddition = {
  what: string
  names: string[]
  round?: 2
  insertions: Insertion[]
}

const inFile = (file: string, behind: string, text: string): Insertion => ({ file, behind, text })

export const simulated_additions: SimulatedAddition[] = [
  {
    what: 'an endpoint',
    names: ['getAddedEndpoint'],
    round: 2,
    insertions: [
      inFile(
        'src/contract/endpoints/usage.ts',
        'export const usageEndpoints = {',
        `
  getAddedEndpoint: {
    ...v1,
    tag: 'usage',
    method: 'GET',
    path: '/v1/organizations/{org_id}/added',
    summary: 'Get what was added',
    description: 'Added.',
    scope: 'org:read',
    bucket: 'standard',
    reach: 'none',
    params: org,
    query: UsageQuery,
    response: Usage,
  },`,
      ),
    ],
  },
  {
    what: 'an MCP tool',
    names: ['getUsage'],
    insertions: [inFile('src/http/mcp/tool-table.ts', "  | 'createAgentRun'", "\n  | 'getUsage'")],
  },
  {
    what: 'an error code',
    names: ['added_error'],
    insertions: [
      inFile(
        'src/contract/error-codes.ts',
        'export const problems = {',
        "\n  added_error: { status: 409, title: 'Added' },",
      ),
    ],
  },
  {
    what: 'a scope or a role',
    names: ['added:scope', 'ADDED_ROLE'],
    insertions: [
      inFile('src/contract/endpoint.ts', "  'org:admin',", "\n  'added:scope',"),
      inFile('src/contract/organizations/users.ts', "'MEMBER', 'READER'", ", 'ADDED_ROLE'"),
      inFile('src/core/access/permissions.ts', "export type Role = 'ADMIN'", " | 'ADDED_ROLE'"),
    ],
  },
  {
    what: 'a setting of an organization',
    names: ['added_setting'],
    insertions: [
      inFile(
        'src/contract/organizations/organizations.ts',
        'const settings = {',
        '\n  added_setting: z.boolean(),',
      ),
      inFile('src/store/tables.ts', '\n  organizations: {', '\n    added_setting?: boolean'),
    ],
  },
  {
    what: 'an event of webhooks',
    names: ['agent_run.added_event'],
    insertions: [
      inFile(
        'src/contract/organizations/webhook-events.ts',
        "  'agent_run.created',",
        "\n  'agent_run.added_event',",
      ),
    ],
  },
  {
    what: 'a log type',
    names: ['ADDED_TYPE'],
    round: 2,
    insertions: [inFile('src/contract/runs/logs.ts', "    'ACTION',", "\n    'ADDED_TYPE',")],
  },
  {
    what: 'a property of every entry',
    names: ['added_property'],
    insertions: [
      inFile(
        'src/contract/runs/logs.ts',
        '    message_type: MessageType,',
        '\n    added_property: z.string().nullable(),',
      ),
    ],
  },
  {
    what: 'a tool',
    names: ['added_tool', 'added_action'],
    insertions: [
      inFile('src/contract/runs/action-tools.ts', "  ...(['web_fetch'", ", 'added_tool'"),
      inFile('src/contract/runs/action-tools.ts', "    'setup_command',", "\n    'added_action',"),
    ],
  },
  {
    what: 'a change of a run',
    names: ['added_cause'],
    insertions: [
      inFile(
        'src/core/runs/run-transitions.ts',
        "  | { to: 'queued'; because: 'worker_lost'",
        " | 'added_cause'",
      ),
    ],
  },
  {
    what: 'a status',
    names: ['added_status'],
    insertions: [
      inFile('src/contract/runs/runs.ts', "    'running',\n    'waiting',", "\n    'added_status',"),
    ],
  },
  {
    what: 'a schedule or a trigger',
    names: ['ADDED_SOURCE'],
    insertions: [
      inFile('src/contract/runs/runs.ts', "  .enum([...publicSourceTypes, 'SCHEDULE'", ", 'ADDED_SOURCE'"),
    ],
  },
  {
    what: 'a reason of a completed run',
    names: ['added_reason'],
    insertions: [
      inFile('src/contract/runs/runs.ts', 'export const completionReasons = [', "\n  'added_reason',"),
    ],
  },
  {
    what: 'an option of a run',
    names: ['added_option', 'Unfit<"runs", Row<"runs">>'],
    round: 2,
    insertions: [
      inFile(
        'src/contract/runs/runs.ts',
        'export const AgentRun = z\n  .object({',
        "\n    added_option: z.boolean().describe('Added'),",
      ),
      inFile('src/store/tables.ts', '\n  runs: {', '\n    added_option: boolean'),
    ],
  },
  {
    what: 'a limit of a run (budget)',
    names: ['max_added_limit', 'run_added_amount'],
    round: 2,
    insertions: [
      inFile(
        'src/contract/runs/run-limits.ts',
        'export const run_limits = {',
        `
  max_added_limit: {
    unit: 'added_unit',
    max: 100,
    about: 'Number of additions',
    option: 'pause the run after this many additions',
  },`,
      ),
      inFile('src/core/runs/budget/limits.ts', 'type RunSpent = {', '\n  run_added_amount: number'),
      inFile('src/store/tables.ts', '\n  runs: {', '\n    budget_max_added_limit?: number | null'),
    ],
  },
  {
    what: 'a pot that runs share (budget of a group, a team, an automation)',
    names: ['added_pot'],
    insertions: [inFile('src/core/runs/budget/pot.ts', 'export type SharedPotName =', " 'added_pot' |")],
  },
  {
    what: 'a resource limit of a sandbox',
    names: ['max_added_resource'],
    insertions: [
      inFile('src/sandbox/port.ts', 'export type SandboxLimits = {', '\n  max_added_resource: number'),
    ],
  },
  {
    what: 'a user-visible sandbox',
    names: ['added_kind'],
    insertions: [
      inFile(
        'src/contract/repositories/sandboxes.ts',
        "export const SandboxKind = z.enum(['agent'",
        ", 'added_kind'",
      ),
    ],
  },
  {
    what: 'a forge',
    names: ['added_forge'],
    insertions: [
      inFile('src/contract/repositories/forges.ts', "export const forgeKinds = ['github'", ", 'added_forge'"),
    ],
  },
  {
    what: 'a source of checks',
    names: ['added_check_source'],
    round: 2,
    insertions: [
      inFile(
        'src/contract/pull-requests/checks.ts',
        "const checkSources = ['local'",
        ", 'added_check_source'",
      ),
    ],
  },
  {
    what: 'a package registry for presets',
    names: ['added_preset'],
    insertions: [inFile('src/contract/organizations/egress-presets.ts', "...(['debian'", ", 'added_preset'")],
  },
  {
    what: 'a model provider',
    names: ['added_provider', 'added-api'],
    insertions: [
      inFile(
        'src/contract/model-settings.ts',
        "export const model_providers = ['anthropic'",
        ", 'added_provider'",
      ),
      inFile('src/contract/model-settings.ts', 'export const model_apis = [', "\n  'added-api',"),
    ],
  },
  {
    what: 'a sandbox driver',
    names: ['added_driver'],
    insertions: [inFile('src/config.ts', "    .enum(['bubblewrap'", ", 'added_driver'")],
  },
  {
    what: 'a metric',
    names: ['addedMetric'],
    insertions: [inFile('src/telemetry/port.ts', 'export type Telemetry = {', '\n  addedMetric(): void')],
  },
]
