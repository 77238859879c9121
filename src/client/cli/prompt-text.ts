import { text } from 'node:stream/consumers'
import type { CommandArguments, Options } from './command.ts'
import { UsageError } from './exit.ts'

/** Returns the prompt; `-` reads all of standard input. */
export async function promptText(
  given: Pick<CommandArguments<Options>, 'stdin'>,
  word: string | undefined,
): Promise<string> {
  const prompt = word === '-' ? await text(given.stdin) : (word ?? '')
  if (prompt.trim() === '') throw new UsageError('the prompt is empty')
  return prompt
}
