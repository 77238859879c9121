import type { Client } from '../sdk/client.ts'
import { UsageError } from './exit.ts'
import type { Printer } from './printer.ts'
import type { Settings } from './settings.ts'

export type Option = {
  type: 'string' | 'boolean'
  short?: string
  multiple?: boolean
  /** The name of its value in the help. */
  value?: string
  choices?: readonly string[]
  about: string
}
export type Options = Record<string, Option>
export type Values<O extends Options> = {
  [K in keyof O]?: O[K]['type'] extends 'boolean' ? boolean : O[K] extends { multiple: true } ? string[] : string
}

export type Given<O extends Options> = {
  values: Values<O>
  words: string[]
  json: boolean
  print: Printer
  settings: Settings
  stdin: NodeJS.ReadStream
  env: Record<string, string | undefined>
  /** Aborted by Ctrl-C, with Interrupted. */
  signal: AbortSignal
  /** All commands, for those that speak of them. */
  commands: readonly Command[]
  /** A client of the service. Throws CliError when no token is known. */
  client(): Client
}

export type Command<O extends Options = Options> = {
  name: string
  summary: string
  /** What stands behind the name, for example `ID PROMPT`. */
  takes: string
  /** How many words it takes. */
  words: [least: number, most: number]
  /** What its first word may be. */
  choices?: readonly string[]
  options: O
  /** More about it, as lines of the help. */
  notes?: string[]
  /** Does it and answers the exit code. */
  run(given: Given<O>): Promise<number>
}

/** For the types alone: a command's own options are those that its `run` is given. */
export const command = <const O extends Options>(definition: Command<O>): Command => definition

export const everywhere = {
  url: { type: 'string', value: 'URL', about: 'address of the service (AGENTRUN_URL)' },
  token: { type: 'string', value: 'TOKEN', about: 'token (AGENTRUN_TOKEN; seen by others in the list of processes)' },
  org: { type: 'string', value: 'ID', about: 'organization (AGENTRUN_ORG), by default the only one of the token' },
  json: { type: 'boolean', about: "print the API's JSON" },
  help: { type: 'boolean', short: 'h', about: 'say how it is used' },
} as const satisfies Options

/** A whole number that was given as a word. Throws UsageError that names it. */
export function whole(name: string, text: string): number
export function whole(name: string, text: string | undefined): number | undefined
export function whole(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`${name} must be a whole number, and is ${JSON.stringify(text)}`)
  return Number(text)
}
