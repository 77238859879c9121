import { type Command, command } from '../../command.ts'
import { CliError } from '../../exit.ts'

/** Roles of the service, which the supervisor of the clone starts. The client alone only explains them. */
export const roles: Command[] = [
  role('serve', 'serve the API and the web page'),
  role('work', 'execute runs of a database that other processes serve'),
  role('all', 'serve and execute runs in one process, as npm start does'),
  role('migrate', 'migrate the database and exit'),
]

function role(name: string, summary: string): Command {
  return command({
    name,
    summary,
    usage: [],
    words: [0, 9],
    options: {},
    notes: [
      `In the clone, as ./agentrun ${name}. Variables configure it: see docs/reference/configuration.md.`,
    ],
    async run() {
      throw new CliError(`${name} runs in the clone of the service: ./agentrun ${name}`)
    },
  })
}
