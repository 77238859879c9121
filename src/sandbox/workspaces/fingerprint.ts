import { createHash } from 'node:crypto'
import { onAbort } from '../../core/abort.ts'
import { childEnv } from '../../system/host-child-env.ts'
import { startProgram } from '../../system/programs/start-program.ts'
import type { SystemUser } from '../../system/users.ts'

/** A name has no zero byte; only the kernel sets the time of change. */
const STATE = '%p\\0%y %m %s %T@ %C@ %i %l\\0'

/**
 * Returns a digest of folders in `root`: names, kinds, modes, sizes, times of change and link targets. Any
 * write into one of the files changes it, even if reverted. Read as `user`, the owner. Rejects when they
 * cannot be read completely.
 */
export async function folderFingerprint(
  root: string,
  folders: readonly string[],
  user: SystemUser | null,
  signal?: AbortSignal,
) {
  // Its user may have removed permissions of its own folders.
  const command = ['--user', '--map-root-user', '--', '/usr/bin/find', ...folders, '-printf', STATE]
  const program = startProgram(
    { program: '/usr/bin/unshare', args: command, cwd: root, env: childEnv(), user, max_output_bytes: 0 },
    { output: 'pipe' },
  )
  using _stop = signal && onAbort(signal, () => program.stop())
  const hash = createHash('sha256')
  program.child.stdout?.on('data', chunk => hash.update(chunk))
  const { code, stderr, start_error } = await program.done
  signal?.throwIfAborted()
  if (code !== 0)
    throw new Error(
      `the files cannot be read: ${start_error ?? (stderr.trim() || `find ended with ${code}`)}`,
    )
  return hash.digest('hex')
}
