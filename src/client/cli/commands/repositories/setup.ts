import { parseJson } from '../../../../core/json/parse-json.ts'
import type { Result } from '../../../sdk/operations.ts'
import { command, type Options, printResult, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { plainText } from '../../plain-text.ts'
import { repositoryId } from '../../repository.ts'
import { watching, watchRun } from '../../watch-run.ts'

const actions = ['show', 'set', 'clear', 'generate', 'accept'] as const
const options = {
  maintenance: {
    type: 'string',
    multiple: true,
    value: 'COMMAND',
    actions: ['set'],
    about: 'runs instead where the commands have prepared an environment at another commit; may be repeated',
  },
  variable: {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    actions: ['set'],
    about: 'a variable for these commands; may be repeated',
  },
  timeout: {
    type: 'string',
    value: 'SECONDS',
    actions: ['set'],
    about: 'time limit for all of them together',
  },
  'on-failure': {
    type: 'string',
    value: 'WHAT',
    choices: ['fail', 'continue'],
    actions: ['set'],
    about: 'what happens to a run when one fails',
  },
  ...watching,
} as const satisfies Options

export const setup = command({
  name: 'setup',
  summary: 'show, change or detect the setup commands of a repository',
  usage: ['show REPO', 'set REPO COMMAND…', 'clear REPO', 'generate REPO', 'accept RUN'],
  words: [2, 52],
  choices: actions,
  options,
  notes: [
    'Each COMMAND is one word, so quote it: agentrun setup set web "npm ci" "npm run build". They replace the previous commands.',
    'generate starts a run that detects the commands and verifies them; accept stores the result of such a run. --follow and --wait apply to generate.',
  ],
  async run(given) {
    const { words, values, client, json, print, signal } = given
    const [action = 'show', subject = '', ...commands] = words
    if (action === 'set' ? commands.length === 0 : commands.length > 0)
      throw new UsageError(
        action === 'set'
          ? 'agentrun setup set takes at least one command'
          : `agentrun setup ${action} takes no command`,
      )
    if (action === 'generate') {
      const repo_id = await repositoryId(client(), subject, signal)
      const { agent_run_id } = await client().call('generateSetupCommands', {
        body: { repo_id, trigger_source: 'cli' },
        signal,
      })
      return watchRun(given, client().runs.get(agent_run_id, { signal }), () => 0)
    }
    const chosen = {
      ...(values.maintenance && { maintenance_commands: values.maintenance }),
      ...(values.variable && { variables: Object.fromEntries(values.variable.map(nameAndValue)) }),
      ...(values.timeout !== undefined && { timeout_seconds: whole('--timeout', values.timeout) }),
      ...(values['on-failure'] !== undefined && { on_failure: values['on-failure'] as 'fail' | 'continue' }),
    }
    const found =
      action === 'accept' ? await foundBy(client(), whole('the id of a run', subject), signal) : null
    const params = { repo_id: found?.repo_id ?? (await repositoryId(client(), subject, signal)) }
    const body = { commands: found?.commands ?? commands, ...chosen }
    const set =
      action === 'show'
        ? await client().call('getSetupCommands', { params, signal })
        : await client().call('setSetupCommands', { params, body, repeatable: true, signal })
    return printResult({ json, print }, set, () => linesOf(set))
  },
})

type Client = Parameters<typeof repositoryId>[0]

/** Returns the commands that a run has detected, and their repository. */
async function foundBy(
  client: Client,
  id: number,
  signal: AbortSignal,
): Promise<{ repo_id: number; commands: string[] }> {
  const { source_type, repo_id, result, status } = await client.runs.get(id, { signal })
  if (source_type !== 'SETUP_COMMANDS' || repo_id === null)
    throw new UsageError(`run ${id} is not a detection of setup commands`)
  if (!result) throw new UsageError(`run ${id} has found nothing yet: it is ${status}`)
  return { repo_id, commands: commandsOf(result) }
}

/** Returns the commands of the result of such a run, which is JSON with the fields of FoundSetupCommands. */
function commandsOf(result: string): string[] {
  const found = parseJson('api_body', result)
  const commands =
    typeof found === 'object' && found !== null && 'commands' in found ? found.commands : undefined
  if (Array.isArray(commands) && commands.every(command => typeof command === 'string')) return commands
  throw new UsageError('the result of this run has no commands: is this client older than the service?')
}

function nameAndValue(text: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new UsageError(`--variable must be NAME=VALUE, and is ${JSON.stringify(text)}`)
  return [name, value]
}

function linesOf({
  commands,
  maintenance_commands,
  variables,
  on_failure,
  timeout_seconds,
}: Result<'getSetupCommands'>): string[] {
  if (commands.length === 0) return ['no setup']
  return [
    ...commands.map(line => `command    ${plainText(line)}`),
    ...maintenance_commands.map(line => `later      ${plainText(line)}`),
    ...Object.entries(variables).map(([name, value]) => `variable   ${plainText(`${name}=${value}`)}`),
    `failure    ${on_failure}`,
    `time-out   ${timeout_seconds} s`,
  ]
}
