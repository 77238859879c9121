import type { CommandArguments, Options } from '../../command.ts'
import { firstLine } from '../../plain-text.ts'
import { readSecret } from '../../read-secret.ts'
import { list, of_repository, resource, single, table } from '../../resource.ts'

const options = {
  ...of_repository,
  'for-agent': { type: 'boolean', actions: ['set'], about: 'agents get it as a variable of their commands' },
} as const satisfies Options

export const secrets = resource({
  name: 'secrets',
  summary: 'list secrets, set one, or delete one',
  usage: ['[list]', 'set NAME', 'delete NAME'],
  words: [0, 2],
  options,
  notes: [
    'set prompts for the value, or reads it from standard input: agentrun secrets set NPM_TOKEN < token.txt',
  ],
  actions: {
    list: list({
      operation: 'listSecrets',
      of_repository: 'listRepositorySecrets',
      lines: table({
        NAME: one => firstLine(one.name, 100),
        FOR: one => (one.for_agent ? 'agents' : 'setup'),
        UPDATED: one => one.updated_at,
      }),
    }),
    set: single({
      operation: 'setSecret',
      of_repository: 'setRepositorySecret',
      body: (given: CommandArguments<typeof options>, name) => async () => ({
        value: await readSecret(given, `Value of ${name}`),
        ...(given.values['for-agent'] && { for_agent: true }),
      }),
      lines: ({ name }) => [`set: ${name}`],
    }),
    delete: single({
      operation: 'deleteSecret',
      of_repository: 'deleteRepositorySecret',
      lines: ({ name }) => [`deleted: ${name}`],
    }),
  },
})
