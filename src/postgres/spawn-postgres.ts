import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { childEnv } from '../system/host-child-env.ts'
import type { SystemUser } from '../system/users.ts'

/**
 * Starts a program of PostgreSQL, detached, so that a Ctrl-C in the terminal does not reach it before us, as
 * the database's user. It writes to the end of the log, never to a pipe of ours. `logged`: how many bytes
 * were there before.
 */
export function spawnPostgres(
  program: string,
  args: string[],
  { user, log_file }: { user: SystemUser | null; log_file: string },
): { child: ChildProcess; logged: number } {
  // Not through a link: as root we write where the database user may have put one.
  const log = openSync(
    log_file,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
    0o640,
  )
  const { size: logged } = fstatSync(log)
  const child = spawn(program, args, {
    ...(user && { uid: user.uid, gid: user.gid }),
    cwd: '/',
    env: childEnv({ TZ: 'UTC' }),
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  return { child, logged }
}
