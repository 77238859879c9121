import { command } from '../../command.ts'
import { CliError } from '../../exit.ts'

export const admin = command({
  name: 'admin',
  summary: 'a new token or sign-in link, on the machine of the service',
  takes: 'token|link',
  words: [0, 9],
  choices: ['token', 'link'],
  options: {},
  notes: ['It works against the database of the service, without a token: in its clone, as ./agentrun admin.'],
  async run() {
    throw new CliError('admin works where the service runs: in its clone, as ./agentrun admin')
  },
})
