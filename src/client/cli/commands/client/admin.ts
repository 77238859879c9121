import { command } from '../../command.ts'
import { CliError } from '../../exit.ts'

export const admin = command({
  name: 'admin',
  summary:
    'create a token or sign-in link, back up, restore, or rotate the key for secrets, on the machine of the service',
  usage: ['token', 'link', 'backup FILE', 'restore FILE', 'rotate-secrets'],
  words: [0, 9],
  choices: ['token', 'link', 'backup', 'restore', 'rotate-secrets'],
  options: {},
  notes: [
    'It uses the database of the service and needs no token. Run it in the clone of the service: ./agentrun admin.',
  ],
  async run() {
    throw new CliError('admin runs in the clone of the service: ./agentrun admin')
  },
})
