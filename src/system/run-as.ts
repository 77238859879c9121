import { childEnv } from './host-child-env.ts'
import { runProgram } from './programs/run-program.ts'
import type { SystemUser } from './users.ts'

/** How a program ended; `exit_code` is null when it could not be started or a signal ended it. */
type RunResult = { exit_code: number | null; stderr: string }

/**
 * Runs a program to its end as `user` (null: as this process), with an environment built from nothing. Never
 * rejects.
 */
export async function runAs(
  user: SystemUser | null,
  program: string,
  args: string[],
  input = '',
): Promise<RunResult> {
  const identity = { cwd: '/', env: childEnv(), user }
  const { code, stderr, start_error } = await runProgram({
    program,
    args,
    ...identity,
    stdin: input,
    max_output_bytes: 64 * 1024,
  }).done
  return { exit_code: code, stderr: stderr || (start_error ?? '') }
}
