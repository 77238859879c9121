import { constants, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitRepository } from '../git-repository.ts'
import { differOnlyIn, gitDirOf, localFingerprint } from '../mirrors/local-fingerprint.ts'
import { equalAt, recordEqual } from '../mirrors/mirrors.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { readBranch } from '../read/revisions.ts'

/**
 * Does `keep`, which brings a commit that was just pushed into the mirror. If the mirror was equal to the
 * repository before the push, and the push is all that has changed since, both are equal again: the next
 * refresh need not read the remote. For repositories on this machine only, whose files show that.
 */
export async function keepOwnPush(
  host: GitHost,
  repo: GitRepository,
  pushed: { branch: string; sha: string },
  keep: () => Promise<void>,
): Promise<void> {
  const before = repo.kind === 'local' ? equalAt(host, repo.id) : null
  await keep()
  if (before === null) return
  const git_dir = gitDirOf(repo.url)
  const after = localFingerprint(repo.url)
  const ref = `refs/heads/${pushed.branch}`
  if (git_dir === null || after === null || !differOnlyIn(git_dir, ref, before, after)) return
  // Read after the fingerprint: a later change is one of the next fingerprint.
  const there = await readLoose(join(git_dir, ref))
  const here = await readBranch(mirrorPath(host, repo.id), ref)
  if (there === pushed.sha && here?.sha === pushed.sha) recordEqual(host, repo.id, after)
}

/** Returns the commit of a ref in a file of its own; null when there is none. A pipe is not waited for. */
async function readLoose(path: string): Promise<string | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    if (!(await file.stat()).isFile()) return null
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0)
    return /^([0-9a-f]{40})\n$/.exec(buffer.toString('latin1', 0, bytesRead))?.[1] ?? null
  } catch {
    return null
  }
}
