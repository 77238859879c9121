import { once } from 'node:events'
import { join } from 'node:path'
import { GitError } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { type GitCall, LOCK_TAKEN, openGit } from '../process/run-git.ts'

/**
 * Returns the lock of a mirror, for one call of git that waits for it at most `wait_ms`: no other process of
 * the service changes the mirror meanwhile.
 */
export const mirrorLock = (
  host: GitHost,
  repository_id: number,
  wait_ms: number,
): Required<GitCall>['lock'] => ({
  path: join(host.mirrors, `${repository_id}.lock`),
  wait_seconds: Math.max(1, Math.ceil(wait_ms / 1_000)),
})

/**
 * Runs `work` while no other process of the service changes this mirror. The kernel releases the lock with
 * its holder, so a killed service leaves none behind. GitError `timeout` when it is not available within
 * `wait_ms`.
 */
export async function withMirrorLock<T>(
  host: GitHost,
  repository_id: number,
  wait_ms: number,
  work: () => Promise<T>,
): Promise<T> {
  const lock = mirrorLock(host, repository_id, wait_ms)
  const holder = openGit(host, { program: 'cat', args: [], lock, timeout_ms: 24 * 3_600_000 })
  // It comes back when the lock is held.
  holder.write('held\n', false)
  const ended = await Promise.race([holder.done, once(holder.output, 'data').then(() => null)])
  if (ended) {
    if (ended.exit_code === LOCK_TAKEN)
      throw new GitError(
        'timeout',
        `another fetch of this repository did not end within ${lock.wait_seconds} s`,
      )
    throw new GitError('failed', `the repository cannot be locked: ${ended.stderr.trim()}`)
  }
  try {
    return await work()
  } finally {
    holder.write('', true)
    await holder.done
  }
}
