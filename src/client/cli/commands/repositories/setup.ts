import type { Answer } from '../../../sdk/operations.ts'
import { command, type Options, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { plainText } from '../../plain-text.ts'
import { repositoryId } from '../../repository.ts'
import { watching, watchRun } from '../../watch-run.ts'

const acts = ['show', 'set', 'clear', 'generate', 'accept'] as const
const options = {
  maintenance: {
    type: 'string',
    multiple: true,
    value: 'COMMAND',
    about: 'set: what runs instead where the commands have prepared an environment at another commit; may be given several times',
  },
  variable: { type: 'string', multiple: true, value: 'NAME=VALUE', about: 'set: a variable of these commands; may be given several times' },
  timeout: { type: 'string', value: 'SECONDS', about: 'set: what all of them may take together' },
  'on-failure': { type: 'string', value: 'WHAT', choices: ['fail', 'continue'], about: 'set: what becomes of a run when one fails' },
  ...watching,
} as const satisfies Options

export const setup = command({
  name: 'setup',
  summary: 'say how the sandbox of a repository is set up, change it, or have it found out',
  takes: '[show | set | clear | generate] REPO [COMMAND…] | accept RUN',
  words: [2, 52],
  choices: acts,
  options,
  notes: [
    'Each COMMAND is one word, so it stands in quotes: agentrun setup set web "npm ci" "npm run build". What is set replaces what was.',
    'generate starts a run that finds the commands out and proves them; accept sets what such a run has found. --follow and --wait are for generate.',
  ],
  async run(given) {
    const { words, values, client, json, print, signal } = given
    const [act = 'show', subject = '', ...commands] = words
    if (act === 'set' ? commands.length === 0 : commands.length > 0)
      throw new UsageError(act === 'set' ? 'agentrun setup set takes one command at least' : `agentrun setup ${act} takes no command`)
    if (act === 'generate') {
      const repo_id = await repositoryId(client(), subject, signal)
      const { agent_run_id } = await client().call('generateSetupCommands', { body: { repo_id, trigger_source: 'cli' }, signal })
      return watchRun(given, client().runs.get(agent_run_id, { signal }), () => 0)
    }
    const found = act === 'accept' ? await foundBy(client(), whole('the id of a run', subject), signal) : null
    const params = { repo_id: found?.repo_id ?? (await repositoryId(client(), subject, signal)) }
    const body = {
      commands: found?.commands ?? commands,
      ...(values.maintenance && { maintenance_commands: values.maintenance }),
      ...(values.variable && { variables: Object.fromEntries(values.variable.map(nameAndValue)) }),
      ...(values.timeout !== undefined && { timeout_seconds: whole('--timeout', values.timeout) }),
      ...(values['on-failure'] !== undefined && { on_failure: values['on-failure'] as 'fail' | 'continue' }),
    }
    const set =
      act === 'show'
        ? await client().call('getSetupCommands', { params, signal })
        : await client().call('setSetupCommands', { params, body, repeatable: true, signal })
    if (json) print.json(set)
    else for (const line of linesOf(set)) print.line(line)
    return 0
  },
})

type Client = Parameters<typeof repositoryId>[0]

/** What a run has found out, and for which repository. */
async function foundBy(client: Client, id: number, signal: AbortSignal): Promise<{ repo_id: number; commands: string[] }> {
  const { source_type, repo_id, result, status } = await client.runs.get(id, { signal })
  if (source_type !== 'SETUP_COMMANDS' || repo_id === null) throw new UsageError(`run ${id} finds out no setup commands`)
  if (!result) throw new UsageError(`run ${id} has found nothing yet: it is ${status}`)
  return { repo_id, commands: commandsOf(result) }
}

/** The service says what the result of such a run is. */
function commandsOf(result: string): string[] {
  const { commands } = JSON.parse(result) as { commands: string[] }
  return commands
}

function nameAndValue(text: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw new UsageError(`--variable must be NAME=VALUE, and is ${JSON.stringify(text)}`)
  return [name, value]
}

function linesOf({ commands, maintenance_commands, variables, on_failure, timeout_seconds }: Answer<'getSetupCommands'>): string[] {
  if (commands.length === 0) return ['no setup']
  return [
    ...commands.map(line => `command    ${plainText(line)}`),
    ...maintenance_commands.map(line => `later      ${plainText(line)}`),
    ...Object.entries(variables).map(([name, value]) => `variable   ${plainText(`${name}=${value}`)}`),
    `failure    ${on_failure}`,
    `time-out   ${timeout_seconds} s`,
  ]
}
