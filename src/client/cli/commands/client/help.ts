import { type Command, command, everywhere, type Options } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { columns } from '../../printer.ts'

export const help = command({
  name: 'help',
  summary: 'say what there is, or how a command is used',
  takes: '[COMMAND]',
  words: [0, 1],
  options: {},
  async run({ words: [name], print, commands }) {
    for (const line of name === undefined ? overview(commands) : usage(named(commands, name))) print.line(line)
    return 0
  },
})

/** The command of a name. Throws UsageError. */
export function named(commands: readonly Command[], name: string): Command {
  const found = commands.find(item => item.name === name)
  if (found) return found
  const near = commands.find(item => item.name.startsWith(name) || name.startsWith(item.name))
  throw new UsageError(`there is no command ${JSON.stringify(name)}${near ? `; is it "${near.name}"?` : ''}`)
}

export const overview = (commands: readonly Command[]): string[] => [
  'usage: agentrun COMMAND',
  '',
  ...columns(commands.map(({ name, takes, summary }) => [`  ${name} ${takes}`.trimEnd(), summary])),
  '',
  'for every command:',
  ...optionLines(everywhere),
  '',
  'exit codes: 0 success, 1 refused or the run did not complete, 2 wrong usage, 3 cannot reach the service, 4 not signed in, 130 interrupted',
]

/** How a command is used. */
export const usage = ({ name, takes, summary, options, notes = [] }: Command): string[] => [
  `usage: agentrun ${name}${Object.keys(options).length === 0 ? '' : ' [OPTIONS]'}${takes === '' ? '' : ` ${takes}`}`,
  '',
  `  ${summary}`,
  ...notes.map(note => `  ${note}`),
  ...(Object.keys(options).length === 0 ? [] : ['', ...optionLines(options)]),
  '',
  ...optionLines(everywhere),
]

function optionLines(options: Options): string[] {
  return columns(
    Object.entries(options).map(([name, { short, value, about, choices }]) => [
      `  ${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
      choices === undefined ? about : `${about}: ${choices.join(', ')}`,
    ]),
  )
}
