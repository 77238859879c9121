import { childEnv } from '../host-child-env.ts'
import type { Program } from './start-program.ts'

/** Returns a command at low priority, in `/`, with an environment made from nothing. */
export function niceProgram(words: string[]): Pick<Program, 'program' | 'args' | 'cwd' | 'env'> {
  return { program: '/usr/bin/nice', args: ['-n', '10', ...words], cwd: '/', env: childEnv() }
}
