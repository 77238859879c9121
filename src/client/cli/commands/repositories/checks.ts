import type { Result } from '../../../sdk/operations.ts'
import { command, type Options, printResult, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { plainText } from '../../plain-text.ts'
import { repositoryId } from '../../repository.ts'

const actions = ['show', 'set', 'clear'] as const
const options = {
  timeout: { type: 'string', value: 'SECONDS', actions: ['set'], about: 'time limit of each' },
} as const satisfies Options

export const checks = command({
  name: 'checks',
  summary: 'show or change the checks that run on pushed branches',
  usage: ['show REPO', 'set REPO NAME=COMMAND…', 'clear REPO'],
  words: [2, 22],
  choices: actions,
  options,
  notes: [
    'Each NAME=COMMAND is one word, so quote it: agentrun checks set web "test=npm test" "lint=npm run lint". They replace the previous checks.',
  ],
  async run({ words: [action = 'show', repo = '', ...given], values, client, json, print, signal }) {
    if (action === 'set' ? given.length === 0 : given.length > 0)
      throw new UsageError(
        action === 'set'
          ? 'agentrun checks set takes at least one check'
          : `agentrun checks ${action} takes no check`,
      )
    const timeout =
      values.timeout === undefined ? {} : { timeout_seconds: whole('--timeout', values.timeout) }
    const body = { checks: given.map(text => ({ ...nameAndCommand(text), ...timeout })) }
    const params = { repo_id: await repositoryId(client(), repo, signal) }
    const set =
      action === 'show'
        ? await client().call('getCheckCommands', { params, signal })
        : await client().call('setCheckCommands', { params, body, repeatable: true, signal })
    return printResult({ json, print }, set, () => linesOf(set))
  },
})

function nameAndCommand(text: string): { name: string; command: string } {
  const [, name, command] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (name === undefined || command === undefined)
    throw new UsageError(`a check must be NAME=COMMAND, not ${JSON.stringify(text)}`)
  return { name, command }
}

function linesOf({ checks }: Result<'getCheckCommands'>): string[] {
  if (checks.length === 0) return ['no checks']
  const width = Math.max(...checks.map(check => check.name.length))
  return checks.map(({ name, command, timeout_seconds }) =>
    plainText(`${name.padEnd(width)}  ${command}  (at most ${timeout_seconds} s)`),
  )
}
