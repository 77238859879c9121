import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { childEnv } from '../../system/host-child-env.ts'
import type { SystemUser } from '../../system/users.ts'

/** A name has no zero byte; only the kernel sets the time of change. */
const STATE = '%p\\0%y %m %s %T@ %C@ %i %l\\0'

/**
 * Returns a digest of folders in `root`: names, kinds, modes, sizes, times of change and link targets. Any write into one of the files
 * changes it, even if reverted. Read as `user`, the owner. Rejects when they cannot be read completely.
 */
export async function folderFingerprint(root: string, folders: readonly string[], user: SystemUser | null, signal?: AbortSignal) {
  // Its user may have removed permissions of its own folders.
  const command = ['--user', '--map-root-user', '--', '/usr/bin/find', ...folders, '-printf', STATE]
  const child = spawn('/usr/bin/unshare', command, {
    ...{ cwd: root, env: childEnv(), stdio: ['ignore', 'pipe', 'pipe'] },
    ...(signal && { signal }),
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
  })
  const hash = createHash('sha256')
  let complaint = ''
  child.stdout.on('data', chunk => hash.update(chunk))
  child.stderr.on('data', chunk => {
    complaint = (complaint + chunk).slice(0, 1_000)
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the files cannot be read: ${complaint.trim() || `find ended with ${code}`}`)
  return hash.digest('hex')
}
