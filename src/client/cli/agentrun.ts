import { parseArgs } from 'node:util'
import { AgentRunError, type Client, createClient } from '../sdk/client.ts'
import { type Command, everywhere, type Given, type Options, type Values } from './command.ts'
import { named, overview, usage } from './commands/client/help.ts'
import { commands } from './commands/table.ts'
import { CliError, exit, exitCodeOf, Interrupted, UsageError } from './exit.ts'
import { createPrinter, type Printer, type Stream } from './printer.ts'
import { readSettings, type Settings } from './settings.ts'
import { version } from './version.ts'

export type World = {
  stdin: NodeJS.ReadStream
  stdout: Stream
  stderr: Stream
  env: Record<string, string | undefined>
  signal: AbortSignal
}

/** Runs a command line and answers its exit code. Never rejects: what went wrong is said on standard error. */
export async function agentrun(args: string[], world: World): Promise<number> {
  const print = createPrinter(world.stdout, world.stderr, world.env)
  let command: Command | null = null
  try {
    const { word, rest } = split(args)
    command = word === null ? null : named(commands, word)
    if (command === null) return withoutCommand(rest, print)
    const { values, words } = parsed(command, rest)
    if (values.help) {
      for (const line of usage(command)) print.line(line)
      return exit.success
    }
    return await command.run(given(values, words, print, world))
  } catch (error) {
    print.progress(null)
    if (error instanceof AgentRunError && error.problem !== null && args.includes('--json')) print.json(error.problem)
    for (const line of complaint(error, command)) print.note(line)
    return exitCodeOf(error)
  }
}

/** The command is the first word that is no option, wherever it stands. */
function split(args: string[]): { word: string | null; rest: string[] } {
  const { tokens } = parseArgs({ args, options: everywhere, strict: false, allowPositionals: true, tokens: true })
  const word = tokens.find(token => token.kind === 'positional')
  return word === undefined ? { word: null, rest: args } : { word: word.value, rest: args.toSpliced(word.index, 1) }
}

function withoutCommand(args: string[], print: Printer): number {
  const { values } = understood(() =>
    parseArgs({ args, options: { ...everywhere, version: { type: 'boolean', short: 'V' } }, allowPositionals: false }),
  )
  for (const line of values.version ? [version] : overview(commands)) print.line(line)
  return exit.success
}

function parsed(command: Command, args: string[]): { values: Values<Options>; words: string[] } {
  const options: Options = { ...everywhere, ...command.options }
  const { values, positionals: words } = understood(() => parseArgs({ args, options, allowPositionals: true }))
  const [least, most] = command.words
  if (!values.help && (words.length < least || words.length > most)) {
    const wanted = command.takes === '' ? 'no words' : command.takes
    throw new UsageError(
      `agentrun ${command.name} takes ${wanted}${words.length > most ? ': a prompt of several words is put in quotes' : ''}`,
    )
  }
  for (const [name, { choices, multiple }] of Object.entries(options)) {
    const given = values[name]
    // Words of a list contain no commas, so several may come in one.
    if (choices !== undefined && multiple && Array.isArray(given)) values[name] = given.flatMap(value => String(value).split(','))
    for (const value of [values[name]].flat()) requireChoice(`--${name}`, choices, value)
  }
  requireChoice(`agentrun ${command.name}:`, command.choices, words[0])
  return { values: values as Values<Options>, words }
}

function requireChoice(what: string, choices: readonly string[] | undefined, value: unknown): void {
  if (choices !== undefined && typeof value === 'string' && !choices.includes(value))
    throw new UsageError(`${what} must be one of ${choices.join(', ')}`)
}

/** What parseArgs throws, as a UsageError in its first sentence. */
function understood<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0])
  }
}

function given(values: Values<Options>, words: string[], print: Printer, world: World): Given<Options> {
  const flags = values as Values<typeof everywhere>
  const settings = readSettings(flags, world.env)
  const client = () => signedIn(settings, print)
  const { stdin, env, signal } = world
  return { values, words, json: flags.json ?? false, print, settings, stdin, env, signal, commands, client }
}

function signedIn({ base_url, token, organization_id, config_path, config_problem }: Settings, print: Printer): Client {
  if (token === null) {
    const why = config_problem === null ? '' : ` (${config_path} ${config_problem})`
    throw new CliError(`not signed in to ${base_url}${why}: run "agentrun login", or set AGENTRUN_TOKEN`, exit.signed_out)
  }
  if (!/^[\x21-\x7e]+$/.test(token)) throw new CliError('the token is none: it is one word of printable ASCII', exit.signed_out)
  return createClient({
    base_url,
    token,
    organization_id: organization_id ?? undefined,
    retries: 3,
    on_wait: (error, ms) => print.progress(`${error.detail} Trying again in ${Math.ceil(ms / 1000)} s …`),
  })
}

/** What a person is told of an error. Only what nobody foresaw comes with its stack. */
function complaint(error: unknown, command: Command | null): string[] {
  if (error instanceof Interrupted) return []
  if (error instanceof UsageError)
    return [`agentrun: ${error.message}`, `See "agentrun help${command === null ? '' : ` ${command.name}`}".`]
  if (error instanceof CliError) return [`agentrun: ${error.message}`]
  if (!(error instanceof AgentRunError)) return [`agentrun: ${error instanceof Error ? error.stack : String(error)}`]
  const { detail, errors, status, request_id } = error
  const fields = errors.filter(({ msg }) => !detail.includes(msg)).map(({ loc, msg }) => `  ${loc.join('.')}: ${msg}`)
  const hint =
    status === 401
      ? ['  Run "agentrun login", or see to AGENTRUN_TOKEN.']
      : error.code === 'organization_needed'
        ? ['  Give --org or set AGENTRUN_ORG.']
        : []
  return [`agentrun: ${detail}`, ...fields, ...hint, ...(status >= 500 && request_id !== null ? [`  request ${request_id}`] : [])]
}
