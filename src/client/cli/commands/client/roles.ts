import { type Command, command } from '../../command.ts'
import { CliError } from '../../exit.ts'

/** The service itself, which the launcher of the clone starts: here only for the help of who has the client alone. */
export const roles: Command[] = [
  role('serve', 'answer the API and the page, in the clone of the service'),
  role('work', 'work on runs of a database that others serve, in the clone of the service'),
  role('all', 'serve and work in one process, as npm start does, in the clone of the service'),
  role('migrate', 'bring the database up to date and end, in the clone of the service'),
]

function role(name: string, summary: string): Command {
  return command({
    name,
    summary,
    takes: '',
    words: [0, 9],
    options: {},
    notes: [`In the clone, as ./agentrun ${name}. Variables configure it: see docs/reference/configuration.md.`],
    async run() {
      throw new CliError(`${name} works where the service is: in its clone, as ./agentrun ${name}`)
    },
  })
}
