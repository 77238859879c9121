import type { Answer } from '../../sdk/operations.ts'
import { command, type Options, whole } from '../command.ts'
import { UsageError } from '../exit.ts'
import { plainText } from '../plain-text.ts'
import { repositoryId } from '../repository.ts'

const acts = ['show', 'set', 'clear'] as const
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
} as const satisfies Options

export const setup = command({
  name: 'setup',
  summary: 'say how the sandbox of a repository is set up, or change it',
  takes: '[show | set | clear] REPO [COMMAND…]',
  words: [2, 52],
  choices: acts,
  options,
  notes: [
    'Each COMMAND is one word, so it stands in quotes: agentrun setup set web "npm ci" "npm run build". What is set replaces what was.',
  ],
  async run({ words: [act = 'show', repo = '', ...commands], values, client, json, print, signal }) {
    if (act === 'set' ? commands.length === 0 : commands.length > 0)
      throw new UsageError(act === 'set' ? 'agentrun setup set takes one command at least' : `agentrun setup ${act} takes no command`)
    const params = { repo_id: await repositoryId(client(), repo, signal) }
    const body = {
      commands,
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
