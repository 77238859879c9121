import { type Help, InvalidArgumentError, Command as Program, Option as ProgramOption } from 'commander'
import {
  aboutOf,
  type Command,
  type CommandGroup,
  global_options,
  help_option,
  type Options,
  type Values,
} from './command.ts'
import { UsageError } from './exit.ts'
import { version } from './version.ts'

/** Help is at most this wide, also on wider terminals and in files. */
const MAX_HELP_COLUMNS = 80
const GLOBAL_HEADING = 'Options of every command:'
const EXIT_CODES =
  'Exit codes: 0 success, 1 refused or the run did not complete, 2 wrong usage, 3 cannot reach the service, 4 not signed in, 130 interrupted'

type Output = { width: number | null; write(text: string): void }
/** A command line that was understood. */
export type CommandLine = {
  command: Command
  values: Values<Options> & Values<typeof global_options>
  words: string[]
}

/**
 * Builds commander's program from the table of commands. `onCommand` receives the command line when it is
 * parsed.
 */
export function createProgram(
  groups: readonly CommandGroup[],
  output: Output,
  onCommand: (line: CommandLine) => void,
): Program {
  const width = Math.min(output.width ?? MAX_HELP_COLUMNS, MAX_HELP_COLUMNS)
  const program = new Program('agentrun')
    .exitOverride()
    .configureOutput({
      writeOut: output.write,
      writeErr: () => {},
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
      getOutHasColors: () => false,
    })
    .configureHelp({
      subcommandTerm: command => command.name(),
      commandUsage: usageOf(groups),
      visibleOptions: visibleOptions(groups),
    })
    .enablePositionalOptions()
    .helpCommand(false)
    .helpOption('-h, --help', help_option.about)
    .version(version, '-V, --version', 'show the version')
  addOptions(program, global_options, GLOBAL_HEADING)
  for (const { heading, commands } of groups)
    for (const command of commands) addCommand(program, heading, command, onCommand)
  return program.addHelpText('after', `\n${program.createHelp().boxWrap(EXIT_CODES, width)}`)
}

function addCommand(
  program: Program,
  heading: string,
  command: Command,
  onCommand: (line: CommandLine) => void,
): void {
  const { name, summary, notes = [], options } = command
  const subcommand = program
    .command(name)
    .summary(summary)
    .description([summary, ...notes].join('\n\n'))
    .helpGroup(heading)
  addOptions(subcommand, options, 'Options:')
  addOptions(subcommand, global_options, GLOBAL_HEADING)
  subcommand.argument('[words...]').action((words: string[]) => {
    requireWords(command, words)
    const values = {
      ...definedValues(program, global_options),
      ...definedValues(subcommand, { ...options, ...global_options }),
    }
    onCommand({ command, values, words })
  })
}

function addOptions(program: Program, options: Options, heading: string): void {
  for (const [name, definition] of Object.entries(options)) {
    const { short, value, choices, multiple, type } = definition
    const about = aboutOf(definition)
    const flags = `${short === undefined ? '' : `-${short}, `}--${name}${type === 'boolean' ? '' : ` <${value ?? 'VALUE'}>`}`
    const option = new ProgramOption(flags, choices === undefined ? about : `${about}: ${choices.join(', ')}`)
    if (type === 'string')
      option.argParser<string | string[]>((text, before) => optionValue(text, before, choices, multiple))
    program.addOption(option.helpGroup(heading))
  }
}

/**
 * The value of one occurrence of an option, together with those before. The choices contain no commas, so one
 * text may list several.
 */
function optionValue(
  text: string,
  before: string | string[] | undefined,
  choices: readonly string[] | undefined,
  multiple = false,
): string | string[] {
  const values = multiple && choices !== undefined ? text.split(',') : [text]
  if (choices !== undefined && values.some(value => !choices.includes(value)))
    throw new InvalidArgumentError(`It must be one of ${choices.join(', ')}.`)
  return multiple ? [before ?? [], values].flat() : text
}

/** commander stores `--no-pr` as `pr: false`; here an option that was not given has no value. */
function definedValues(program: Program, options: Options): Values<Options> {
  const entries = Object.keys(options).flatMap(name => {
    const option = program.options.find(({ long }) => long === `--${name}`)
    const key = option?.attributeName() ?? name
    if (program.getOptionValueSource(key) !== 'cli') return []
    const value: unknown = program.getOptionValue(key)
    return [[name, option?.negate ? value === false : value]]
  })
  return Object.fromEntries(entries)
}

/** Throws UsageError for too few or too many words, and for an unknown action. */
function requireWords({ name, usage, words: [min, max], choices }: Command, words: string[]): void {
  if (words.length < min || words.length > max) {
    const hint = words.length > max ? ': quote a prompt of several words' : ''
    throw new UsageError(`agentrun ${name} takes ${usage.join(' or ') || 'no words'}${hint}`)
  }
  const [first] = words
  if (first !== undefined && choices !== undefined && !choices.includes(first))
    throw new UsageError(`agentrun ${name}: must be one of ${choices.join(', ')}`)
}

const definitionOf = (groups: readonly CommandGroup[], program: Program): Command | undefined =>
  groups.flatMap(({ commands }) => commands).find(({ name }) => name === program.name())

/** The action that the command line names, for which the help is shown; null for all of them. */
const actionOf = (program: Program, { choices = [] }: Command): string | null =>
  choices.find(choice => choice === program.args[0]) ?? null

/** One line for each form of the command; those of one action alone if the command line names it. */
const usageOf = (groups: readonly CommandGroup[]) => (program: Program) => {
  const command = definitionOf(groups, program)
  if (command === undefined) return 'agentrun COMMAND [OPTIONS]'
  const action = actionOf(program, command)
  const forms = command.usage.filter(
    form => action === null || form.replace(/[[\]]/g, '').split(' ')[0] === action,
  )
  return (forms.length === 0 ? [''] : forms)
    .map(form => `agentrun ${command.name} ${form} [OPTIONS]`.replace('  ', ' '))
    .join('\n       ')
}

const visibleOptions = (groups: readonly CommandGroup[]) =>
  function (this: Help, program: Program): ProgramOption[] {
    const command = definitionOf(groups, program)
    const action = command && actionOf(program, command)
    const shown = [
      ...program.options,
      new ProgramOption('-h, --help', help_option.about).helpGroup(GLOBAL_HEADING),
    ]
    if (command === undefined || action === null || action === undefined) return shown
    const hidden = Object.entries(command.options).filter(
      ([, { actions }]) => actions !== undefined && !actions.includes(action),
    )
    return shown.filter(({ long }) => !hidden.some(([name]) => `--${name}` === long))
  }
