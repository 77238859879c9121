import { isKilled } from '../../core/concurrency/killed.ts'
import type { ExecResult } from '../../sandbox/port.ts'

/**
 * A program that the run needs was killed from outside, for example by the kernel when memory was used up.
 * Its run is recovered.
 */
export class KilledProgram extends Error {
  override name = 'KilledProgram'
  readonly code: 'git_killed' | 'agent_killed'

  constructor(code: KilledProgram['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Throws KilledProgram if git, which `result` is of, was killed in the sandbox. */
export function requireGitAlive({
  status,
  exit_code,
  output,
}: Pick<ExecResult, 'status' | 'exit_code' | 'output'>): void {
  if (status === 'exited' && isKilled({ code: exit_code }, Buffer.from(output).toString()))
    throw new KilledProgram('git_killed', 'Git was killed in the sandbox.')
}
