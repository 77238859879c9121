import { partsOf } from './shell-lines.ts'

/** What its lines of RUN do, one part each. An image is made for running what was built: they say how it is built. */
export function saidInDockerfile(text: string): { command: string; setup: boolean }[] {
  const joined = text
    .replaceAll('\r', '')
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, ' ')
  const runs = [...joined.matchAll(/^\s*RUN\s+((?:--\S+\s+)*)(.+)$/gim)].map(([, , command]) => command?.trim() ?? '')
  return runs
    .filter(command => !command.startsWith('[') && !command.startsWith('<<'))
    .flatMap(partsOf)
    .map(command => ({ command, setup: false }))
}
