import { execFile } from 'node:child_process'
import { childEnv } from './host-child-env.ts'
import type { SystemUser } from './users.ts'

/** How a program ended; `exit_code` is null when it could not be started or a signal ended it. */
export type RunResult = { exit_code: number | null; stderr: string }

/** Runs a program to its end as `user` (null: as this process), with an environment made from nothing. Never rejects. */
export function runAs(user: SystemUser | null, program: string, parameters: string[], input = ''): Promise<RunResult> {
  const identity = user ? { uid: user.uid, gid: user.gid } : {}
  return new Promise(resolve => {
    const child = execFile(
      program,
      parameters,
      { cwd: '/', env: childEnv(), ...identity, maxBuffer: 64 * 1024 },
      (error, _stdout, stderr) => resolve({ exit_code: child.exitCode, stderr: stderr || (error?.message ?? '') }),
    )
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}
