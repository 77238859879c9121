import table from './repair-rules.json' with { type: 'json' }

/** A row of the table beside this file: a change of a command for a message in its output. */
type Row = {
  /** The rule is applied once to a command. */
  id: string
  /** The reason of the change, as the end of a sentence. */
  why: string
  /** Patterns, or names of patterns that several rows share. */
  command: string
  output: string
  ignore_case?: boolean
  /** What is appended to the command. */
  add?: string
  /** A pattern, and the text for what it matches: the result is `{replaced}`. */
  replace?: string[]
  /** What is executed instead; `{replaced}` if absent. A name: the function that returns it. */
  commands?: string[] | string
  /** Applied to the whole command, not only to the failing line. */
  whole?: boolean
}

/** The first rule that matches and was not applied yet is tried. */
type CommandRule = Pick<Row, 'id' | 'why' | 'whole'> & {
  command: RegExp
  output: RegExp
  /** `needs`: packages that must not be excluded. */
  to(command: string, output: string, needs: readonly string[]): string[]
}

const named: Record<string, string> = table.named_patterns
const rows: Row[] = table.rules

const patternOf = (text: string, flags = '') => new RegExp(named[text] ?? text, flags)
const ABSENT = patternOf('@absent_package')

/** A package that is not only for development stays: then nothing has changed, and the rule is skipped. */
function withoutAbsent(command: string, output: string, needs: readonly string[]): string[] {
  const [, one, other] = ABSENT.exec(output) ?? []
  const name = one ?? other ?? ''
  const install = command.split(' && ').find(part => part.startsWith('npm install')) ?? command
  const known = [...command.matchAll(/'devDependencies\[([^[\]]+)\]'/g)].map(([, known]) => known ?? '')
  if (name === '' || known.includes(name) || needs.includes(name)) return [command]
  const keys = [...known, name].map(key => `'devDependencies[${key}]'`).join(' ')
  return [`npm pkg delete ${keys} && ${install} && git checkout -- package.json`]
}

function changed({ add, replace: [from = '', by = ''] = [], commands }: Row, command: string): string[] {
  if (add !== undefined) return [command.includes(add) ? command : `${command} ${add}`]
  const replaced = command.replace(patternOf(from), by)
  return [commands ?? '{replaced}']
    .flat()
    .map(one =>
      one.replace(/\{(command|replaced)\}/g, (_, name) => (name === 'command' ? command : replaced)),
    )
}

export const COMMAND_RULES = rows.map((row): CommandRule => {
  const { id, why, whole, commands, ignore_case } = row
  return {
    id,
    why,
    whole,
    command: patternOf(row.command),
    output: patternOf(row.output, ignore_case ? 'i' : ''),
    to: commands === 'without_absent_package' ? withoutAbsent : command => changed(row, command),
  }
})
