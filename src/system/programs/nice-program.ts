import { childEnv } from '../host-child-env.ts'
import type { Command } from './start-program.ts'

/** Returns a command at low priority, in `/`, with an environment made from nothing. */
export function niceCommand(words: string[]): Pick<Command, 'program' | 'args' | 'cwd' | 'env'> {
  return { program: '/usr/bin/nice', args: ['-n', '10', ...words], cwd: '/', env: childEnv() }
}
