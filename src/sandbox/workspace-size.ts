import { execFile } from 'node:child_process'
import { childEnv } from '../system/child-env.ts'
import type { SystemUser } from '../system/users.ts'

const MEASURE_MS = 20_000

/** Bytes that a workspace takes on the disk, counted as `user`, who may read nothing else. 0 when it cannot be told in time. */
export function workspaceBytes(path: string, user: SystemUser | null): Promise<number> {
  const as_user = user ? { uid: user.uid, gid: user.gid } : {}
  return new Promise(resolve => {
    execFile('/usr/bin/du', ['-sx', '-B1', '--', path], { cwd: '/', env: childEnv(), timeout: MEASURE_MS, ...as_user }, (_error, said) =>
      resolve(Number.parseInt(said, 10) || 0),
    )
  })
}
