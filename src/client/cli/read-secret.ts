import { text } from 'node:stream/consumers'
import { askSecret } from './ask-secret.ts'
import type { CommandArguments, Options } from './command.ts'
import { CliError } from './exit.ts'

/**
 * Reads a value that must not be an argument, which other users could see: hidden from a terminal, or all of
 * standard input.
 */
export async function readSecret(
  { stdin, signal, print }: Pick<CommandArguments<Options>, 'stdin' | 'signal' | 'print'>,
  what: string,
): Promise<string> {
  const prompt = () => print.note(`${what}:`)
  const value = stdin.isTTY
    ? await askSecret(stdin, signal, prompt)
    : (await text(stdin)).replace(/\r?\n$/, '')
  if (value === '') throw new CliError(`${what} is empty`)
  return value
}
