import { once } from 'node:events'
import { join } from 'node:path'
import { GitError } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { openGit } from '../process/run-git.ts'

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
  const seconds = Math.max(1, Math.ceil(wait_ms / 1_000))
  const holder = openGit(host, {
    program: 'flock',
    args: ['-w', String(seconds), '-E', '75', join(host.mirrors, `${repository_id}.lock`), 'cat'],
    timeout_ms: 24 * 3_600_000,
  })
  // It comes back when the lock is held.
  holder.write('held\n', false)
  const ended = await Promise.race([holder.done, once(holder.output, 'data').then(() => null)])
  if (ended) {
    if (ended.exit_code === 75)
      throw new GitError('timeout', `another fetch of this repository did not end within ${seconds} s`)
    throw new GitError('failed', `the repository cannot be locked: ${ended.stderr.trim()}`)
  }
  try {
    return await work()
  } finally {
    holder.write('', true)
    await holder.done
  }
}
