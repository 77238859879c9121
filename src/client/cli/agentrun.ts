import { CommanderError } from 'commander'
import { AgentRunError, type Client, createClient } from '../sdk/client.ts'
import type { CommandArguments, Options } from './command.ts'
import { command_groups } from './commands/commands.ts'
import { CliError, exit, exitCodeOf, InterruptedError, UsageError } from './exit.ts'
import { startJq } from './jq.ts'
import { createPrinter, type Printer, type Stream } from './printer.ts'
import { type CommandLine, createProgram } from './program.ts'
import { readSettings, type Settings } from './settings.ts'

const all_commands = command_groups.flatMap(({ commands }) => commands)

type World = {
  stdin: NodeJS.ReadStream
  stdout: Stream
  stderr: Stream
  env: Record<string, string | undefined>
  signal: AbortSignal
}

/** Runs a command line and returns its exit code. Never rejects: errors are printed to standard error. */
export async function agentrun(args: string[], world: World): Promise<number> {
  const print = createPrinter(world.stdout, world.stderr, world.env)
  let line: CommandLine | null = null
  try {
    line = parse(args, print)
    return line === null ? exit.success : await run(line, print, world)
  } catch (error) {
    print.progress(null)
    if (
      error instanceof AgentRunError &&
      error.problem !== null &&
      line?.values.json &&
      line.values.jq === undefined
    )
      print.json(error.problem)
    for (const text of errorLines(error, line?.command.name ?? knownName(args))) print.note(text)
    return exitCodeOf(error)
  }
}

/** Runs a command; with `--jq` its JSON goes through jq. */
async function run(line: CommandLine, print: Printer, world: World): Promise<number> {
  if (line.values.jq === undefined) return line.command.run(given(line, print, world))
  const jq = startJq(line.values.jq, print)
  try {
    return await line.command.run(given(line, { ...print, json: jq.filter }, world))
  } finally {
    await jq.end()
  }
}

/** Returns the parsed command line, or null when help or the version was printed. Throws UsageError. */
function parse(args: string[], print: Printer): CommandLine | null {
  let parsed: CommandLine | null = null
  let text = ''
  const write = (piece: string) => {
    text += piece
  }
  const program = createProgram(command_groups, { width: print.width, write }, line => {
    parsed = line
  })
  try {
    program.parse(commandFirst(args), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Without a command.
    if (error.code === 'commander.help') program.outputHelp()
    else if (error.exitCode !== 0)
      throw new UsageError(error.message.replace(/^error: /, '').replaceAll('\n', ' '))
  }
  const [word = ''] = program.args
  // commander shows the help of all commands for an unknown one with --help.
  if (parsed === null && /^\w/.test(word) && !all_commands.some(({ name }) => name === word))
    return parse([word], print)
  if (text !== '') print.line(text.replace(/\n$/, ''))
  return parsed
}

/** `agentrun -h run` is `agentrun run -h`: commander would show the help of all commands. */
function commandFirst(args: string[]): string[] {
  const [first = '', ...rest] = args
  return ['-h', '--help'].includes(first) && rest.length > 0 ? [...rest, first] : args
}

/** The help that `agentrun WORDS --help` prints. Throws UsageError for an unknown command. */
function helpLines(words: readonly string[], print: Printer): string[] {
  const lines: string[] = []
  parse([...words, '--help'], { ...print, line: text => void lines.push(text ?? '') })
  return lines
}

function given({ values, words }: CommandLine, print: Printer, world: World): CommandArguments<Options> {
  const settings = readSettings(values, world.env)
  const client = () => signedIn(settings, print)
  const help = (words: readonly string[]) => helpLines(words, print)
  const { stdin, env, signal } = world
  const json = values.json === true || values.jq !== undefined
  return { values, words, json, print, settings, stdin, env, signal, commands: all_commands, help, client }
}
function signedIn(
  { base_url, token, organization_id, config_path, config_problem }: Settings,
  print: Printer,
): Client {
  if (token === null) {
    const why = config_problem === null ? '' : ` (${config_path} ${config_problem})`
    throw new CliError(
      `not signed in to ${base_url}${why}: run "agentrun login", or set AGENTRUN_TOKEN`,
      exit.signed_out,
    )
  }
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new CliError('the token is invalid: it must be one word of printable ASCII', exit.signed_out)
  return createClient({
    base_url,
    token,
    organization_id: organization_id ?? undefined,
    retries: 3,
    on_wait: (error, ms) => print.progress(`${error.detail} Trying again in ${Math.ceil(ms / 1000)} s …`),
  })
}

const knownName = (args: string[]) => all_commands.find(({ name }) => args.includes(name))?.name

/** The lines that explain an error. Only an unexpected one comes with its stack. */
function errorLines(error: unknown, command: string | undefined): string[] {
  if (error instanceof InterruptedError) return []
  if (error instanceof UsageError)
    return [`agentrun: ${error.message}`, `See "agentrun help${command === undefined ? '' : ` ${command}`}".`]
  if (error instanceof CliError) return [`agentrun: ${error.message}`]
  if (!(error instanceof AgentRunError))
    return [`agentrun: ${error instanceof Error ? error.stack : String(error)}`]
  const { detail, errors, status, request_id } = error
  const fields = errors
    .filter(({ msg }) => !detail.includes(msg))
    .map(({ loc, msg }) => `  ${loc.join('.')}: ${msg}`)
  const hint =
    status === 401
      ? ['  Run "agentrun login", or check AGENTRUN_TOKEN.']
      : error.code === 'organization_needed'
        ? ['  Give --org or set AGENTRUN_ORG.']
        : []
  return [
    `agentrun: ${detail}`,
    ...fields,
    ...hint,
    ...(status >= 500 && request_id !== null ? [`  request ${request_id}`] : []),
  ]
}
