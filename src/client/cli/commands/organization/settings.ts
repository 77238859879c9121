import { readFileSync } from 'node:fs'
import type { AgentPermissions } from '../../../../contract/organizations/agent-permissions.ts'
import type { Body, Result } from '../../../sdk/operations.ts'
import { type CommandArguments, command, type Options, printResult, whole } from '../../command.ts'
import { CliError, UsageError } from '../../exit.ts'
import { firstLine, plainText } from '../../plain-text.ts'
import { columns } from '../../printer.ts'
import { repositoryId } from '../../repository.ts'
import { list, table } from '../../resource.ts'

const set = ['set'] as const
const options = {
  name: { type: 'string', value: 'NAME', actions: set, about: 'name of the organization' },
  model: { type: 'string', value: 'MODEL', actions: set, about: 'default model; none: that of the service' },
  repo: { type: 'string', value: 'ID|NAME', actions: set, about: 'default repository; none: no default' },
  'agent-permissions': {
    type: 'string',
    value: 'allow|ask|deny',
    actions: set,
    about: 'when agents of other vendors request a permission; none: as set for the agent',
  },
  'branch-prefix': {
    type: 'string',
    value: 'PREFIX',
    actions: set,
    about: 'beginning of the names of branches, such as feature/; none: agent/',
  },
  'approval-paths': {
    type: 'string',
    value: 'GLOB,GLOB',
    actions: set,
    about: 'files whose change needs an approval, in addition to those of the service; none: no others',
  },
  rules: {
    type: 'string',
    value: 'FILE',
    actions: set,
    about: 'rules for the agent of every run; none: no rules',
  },
  'max-concurrent-runs': {
    type: 'string',
    value: 'N',
    actions: set,
    about: 'runs at the same time; none: no limit',
  },
  'runs-per-month': {
    type: 'string',
    value: 'N',
    actions: set,
    about: 'runs created in a month; none: no limit',
  },
  budget: { type: 'string', value: 'USD', actions: set, about: 'US dollars in a month; none: no limit' },
} as const satisfies Options

export const settings = command({
  name: 'settings',
  summary: 'show or change the organization: defaults, rules, limits',
  usage: ['[show]', 'set', 'limits'],
  words: [0, 1],
  choices: ['show', 'set', 'limits'],
  options,
  notes: ['limits shows everything that bounds the organization, and how much of it is used'],
  async run(given) {
    const { words, client, json, print, signal } = given
    if (words[0] === 'limits') return limits.run(given)
    if (words[0] === 'set')
      await client().call('updateOrganization', { body: await changes(given), repeatable: true, signal })
    const shown = { ...(await client().call('getOrganization', { signal })) }
    return printResult({ json, print }, shown, () => lines(shown))
  },
})

const none = <T>(text: string | undefined, read: (text: string) => T): T | null | undefined =>
  text === undefined ? undefined : text === 'none' ? null : read(text)

async function changes({
  values,
  client,
  signal,
}: CommandArguments<typeof options>): Promise<Body<'updateOrganization'>> {
  if (Object.keys(options).every(name => values[name as keyof typeof options] === undefined))
    throw new UsageError('agentrun settings set takes at least one option')
  const body: Body<'updateOrganization'> = {
    name: values.name,
    default_model: none(values.model, text => text),
    // The service checks the value.
    agent_permissions: none(values['agent-permissions'], text => text as AgentPermissions),
    branch_prefix: none(values['branch-prefix'], text => text),
    approval_paths: none(values['approval-paths'], text => text.split(',')),
    rules: none(values.rules, file),
    max_concurrent_runs: none(values['max-concurrent-runs'], text => whole('--max-concurrent-runs', text)),
    runs_per_month: none(values['runs-per-month'], text => whole('--runs-per-month', text)),
    budget_usd_per_month: none(values.budget, text => text),
  }
  const default_repo_id = await none(values.repo, repo => repositoryId(client(), repo, signal))
  return { ...body, default_repo_id }
}

function file(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
}

function lines(organization: Record<string, unknown>): string[] {
  const flat = Object.entries(organization).flatMap(([name, value]): [string, unknown][] =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.entries(value)
      : [[name, value]],
  )
  return columns(flat.map(([name, value]) => [name, value === null ? 'none' : firstLine(String(value), 200)]))
}

type Limit = Result<'getOrganizationLimits'>['items'][number]

const limits = list({
  operation: 'getOrganizationLimits',
  lines: table({
    LIMIT: one => one.name,
    VALUE: amount,
    USED: one => (one.used === null ? '-' : `${one.used}`),
    PER: one => one.per,
    SETTING: one => plainText(one.setting ?? 'fixed'),
  }),
})

function amount({ value, unit, window_seconds }: Limit): string {
  return value === null
    ? 'no limit'
    : `${value} ${unit}${window_seconds === null ? '' : ` in ${window_seconds} s`}`
}
