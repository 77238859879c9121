import { partsOf, withoutContinuations } from '../shell-lines.ts'

/**
 * Returns the commands of RUN lines, one part each. An image is built for running the product: they show how
 * it is built.
 */
export function dockerfileHints(text: string): { command: string; setup: boolean }[] {
  const lines = text.replaceAll('\r', '').split('\n')
  const joined = withoutContinuations(lines.filter(line => !line.trimStart().startsWith('#')).join('\n'))
  return joined
    .split('\n')
    .flatMap(line => /^[ \t]*RUN[ \t]+(?:--\S+[ \t]+)*(\S[^\n]*)/i.exec(line)?.[1]?.trim() ?? [])
    .filter(command => !command.startsWith('[') && !command.startsWith('<<'))
    .flatMap(partsOf)
    .map(command => ({ command, setup: false }))
}
