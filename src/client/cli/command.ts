import type { Client } from '../sdk/client.ts'
import { exit, UsageError } from './exit.ts'
import type { Printer } from './printer.ts'
import type { Settings } from './settings.ts'

export type Option = {
  type: 'string' | 'boolean'
  short?: string
  multiple?: boolean
  /** The name of its value in the help. */
  value?: string
  choices?: readonly string[]
  /** The actions of the command that use it; undefined: all. */
  actions?: readonly string[]
  about: string
}
export type Options = Record<string, Option>
export type Values<O extends Options> = {
  [K in keyof O]?: O[K]['type'] extends 'boolean'
    ? boolean
    : O[K] extends { multiple: true }
      ? string[]
      : string
}

export type CommandArguments<O extends Options> = {
  values: Values<O>
  words: string[]
  json: boolean
  print: Printer
  settings: Settings
  stdin: NodeJS.ReadStream
  env: Record<string, string | undefined>
  /** Aborted by Ctrl-C, with Interrupted. */
  signal: AbortSignal
  /** All commands, for completion. */
  commands: readonly Command[]
  /**
   * Returns the lines of the help for a command and an action of it. Throws UsageError for an unknown
   * command.
   */
  help(words: readonly string[]): string[]
  /** Returns a client of the service. Throws CliError when no token is known. */
  client(): Client
}

export type Command<O extends Options = Options> = {
  name: string
  summary: string
  /**
   * The words after the name, for example `ID PROMPT`: one line for each form. `[list]` is the action when
   * none is given.
   */
  usage: readonly string[]
  /** How many words it takes. */
  words: [min: number, max: number]
  /** The values that its first word may have. */
  choices?: readonly string[]
  options: O
  /** Paragraphs of the help. */
  notes?: string[]
  /** Executes the command and returns the exit code. */
  run(given: CommandArguments<O>): Promise<number>
}

/** Commands under one heading of the help. */
export type CommandGroup = { heading: string; commands: readonly Command[] }

/** Infers the types: `run` receives the values of the command's own options. */
export const command = <const O extends Options>(definition: Command<O>): Command => definition

/** Options of every command. */
export const global_options = {
  url: { type: 'string', value: 'URL', about: 'address of the service (AGENTRUN_URL)' },
  token: {
    type: 'string',
    value: 'TOKEN',
    about: 'token (AGENTRUN_TOKEN); other users see it in the list of processes',
  },
  org: {
    type: 'string',
    value: 'ID',
    about: 'organization (AGENTRUN_ORG), by default the only one of the token',
  },
  json: { type: 'boolean', about: "print the API's JSON" },
  jq: { type: 'string', value: 'EXPR', about: 'print what jq selects from the JSON (needs the program jq)' },
} as const satisfies Options

export const help_option = { type: 'boolean', short: 'h', about: 'show help' } as const satisfies Option

/** Returns the description of an option, with the actions that use it. */
export const aboutOf = ({ about, actions }: Option) =>
  actions === undefined ? about : `${actions.join(', ')}: ${about}`

/** Parses a whole number. Throws UsageError that names it. */
export function whole(name: string, text: string): number
export function whole(name: string, text: string | undefined): number | undefined
export function whole(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text))
    throw new UsageError(`${name} must be a whole number, not ${JSON.stringify(text)}`)
  return Number(text)
}

/**
 * Prints a response as JSON or as the lines of a function, which may expect more of it than the JSON needs.
 * Returns the exit code of a success.
 */
export function printResult(
  { json, print }: Pick<CommandArguments<Options>, 'json' | 'print'>,
  response: unknown,
  lines: () => readonly string[],
): number {
  if (json) print.json(response)
  else for (const line of lines()) print.line(line)
  return exit.success
}
