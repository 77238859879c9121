import { execFile } from 'node:child_process'
import { childEnv } from '../system/child-env.ts'
import type { SystemUser } from '../system/users.ts'

const MEASURE_MS = 20_000

/** What the files of a workspace take on the disk. `files`: everything that has an inode, folders and links too. */
export type WorkspaceSize = { bytes: number; files: number }

/** Counted as `user`, who may read nothing else, behind everything else that wants the processor. Null when it cannot be told in time. */
export async function workspaceSize(path: string, user: SystemUser | null): Promise<WorkspaceSize | null> {
  const [bytes, files] = await Promise.all([diskUsage(['-B1'], path, user), diskUsage(['--inodes'], path, user)])
  return bytes === null || files === null ? null : { bytes, files }
}

/** Bytes alone; 0 when they cannot be told in time. */
export const workspaceBytes = async (path: string, user: SystemUser | null): Promise<number> => (await diskUsage(['-B1'], path, user)) ?? 0

function diskUsage(unit: string[], path: string, user: SystemUser | null): Promise<number | null> {
  const as_user = user ? { uid: user.uid, gid: user.gid } : {}
  const args = ['-n', '10', '/usr/bin/du', '-sx', ...unit, '--', path]
  return new Promise(resolve => {
    execFile('/usr/bin/nice', args, { cwd: '/', env: childEnv(), timeout: MEASURE_MS, ...as_user }, (_error, said) => {
      const count = Number.parseInt(said, 10)
      resolve(Number.isNaN(count) ? null : count)
    })
  })
}
