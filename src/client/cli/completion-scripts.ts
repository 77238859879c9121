import { aboutOf, type Command, global_options, help_option, type Option } from './command.ts'

const everywhere: Record<string, Option> = { ...global_options, help: help_option }

const optionsOf = (command: Command): [string, Option][] =>
  Object.entries({ ...command.options, ...everywhere })

/** Text in single quotes of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const spellings = ([name, { short }]: [string, Option]) => [
  `--${name}`,
  ...(short === undefined ? [] : [`-${short}`]),
]

/** The values of options that take one; none is offered where they are not known. */
function valueCases(command: Command): string[] {
  return optionsOf(command).flatMap(option => {
    if (option[1].type === 'boolean') return []
    return [
      `      ${command.name}:${spellings(option).join(`|${command.name}:`)}) words=${quoted((option[1].choices ?? []).join(' '))} ;;`,
    ]
  })
}

/** Returns a script for bash that completes commands, options and their values. */
export function bashCompletion(commands: readonly Command[]): string {
  const taking = Object.entries(everywhere).filter(([, { type }]) => type === 'string')
  const offers = commands.map(command => {
    const words = [...(command.choices ?? []), ...optionsOf(command).flatMap(spellings)]
    return `      ${command.name}) words=${quoted(words.join(' '))} ;;`
  })
  return `_agentrun() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= words= n
  for ((n = 1; n < COMP_CWORD; n++)); do
    case \${COMP_WORDS[n]} in
      ${taking.map(([name]) => `--${name}`).join('|')}) ((n++)) ;;
      -*) ;;
      *) command=\${COMP_WORDS[n]}; break ;;
    esac
  done
  if [[ -z $command ]]; then
    words=${quoted([...commands.map(({ name }) => name), ...Object.keys(everywhere).map(name => `--${name}`), '--version'].join(' '))}
  else
    case $command:$previous in
${commands.flatMap(valueCases).join('\n')}
      *) case $command in
${offers.join('\n')}
      esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _agentrun agentrun`
}

/** Returns a script for zsh that completes commands, options and their values, with descriptions. */
export function zshCompletion(commands: readonly Command[]): string {
  const escaped = (text: string) => text.replaceAll(/[\\[\]:]/g, match => `\\${match}`)
  const specs = (command: Command) =>
    optionsOf(command).flatMap(option => {
      const { type, value = 'value', choices, multiple } = option[1]
      const tail =
        type === 'boolean'
          ? ''
          : `:${escaped(value)}:${choices === undefined ? '' : `(${choices.join(' ')})`}`
      return spellings(option).map(name =>
        quoted(`${multiple ? '*' : ''}${name}[${escaped(aboutOf(option[1]))}]${tail}`),
      )
    })
  return `#compdef agentrun
_agentrun() {
  local context state line
  _arguments -C '1:command:->command' '*::argument:->argument'
  case $state in
    command) local -a known; known=(${commands.map(({ name, summary }) => quoted(`${name}:${escaped(summary)}`)).join(' ')}); _describe command known ;;
    argument) case $line[1] in
${commands.map(command => `      ${command.name}) _arguments ${[...specs(command), ...(command.choices === undefined ? [] : [quoted(`1:word:(${command.choices.join(' ')})`)])].join(' ')} ;;`).join('\n')}
    esac ;;
  esac
}
if [[ $funcstack[1] == _agentrun ]]; then _agentrun "$@"; else compdef _agentrun agentrun; fi`
}

/** Returns a script for fish that completes commands, options and their values, with descriptions. */
export function fishCompletion(commands: readonly Command[]): string {
  const first = `complete -c agentrun -n __fish_use_subcommand -f`
  return [
    ...commands.map(({ name, summary }) => `${first} -a ${name} -d ${quoted(summary)}`),
    ...commands.flatMap(command => {
      const here = `complete -c agentrun -n ${quoted(`__fish_seen_subcommand_from ${command.name}`)}`
      return [
        ...(command.choices === undefined ? [] : [`${here} -f -a ${quoted(command.choices.join(' '))}`]),
        ...optionsOf(command).map(([name, option]) => {
          const { short, type, choices } = option
          return [
            here,
            short === undefined ? '' : `-s ${short}`,
            `-l ${name}`,
            type === 'boolean' ? '' : '-r',
            choices === undefined ? '' : `-f -a ${quoted(choices.join(' '))}`,
            `-d ${quoted(aboutOf(option))}`,
          ]
            .filter(Boolean)
            .join(' ')
        }),
      ]
    }),
  ].join('\n')
}
