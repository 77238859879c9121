import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type GitHost, namesStarting } from '../process/git-host.ts'
import { removeTree } from '../process/owner-files.ts'
import { withMirrorLock } from './mirror-lock.ts'

const LOCK_MS = 10_000

/** Returns the ids of the repositories that have a mirror here. */
export async function mirroredRepositories(host: GitHost): Promise<number[]> {
  return (await readdir(host.mirrors)).flatMap(name => /^(\d+)\.git$/.exec(name)?.[1] ?? []).map(Number)
}

/**
 * Removes the mirror of a repository that is no longer needed. GitError `timeout` while it is still being
 * fetched.
 */
export async function removeMirror(host: GitHost, repository_id: number): Promise<void> {
  await withMirrorLock(host, repository_id, LOCK_MS, async () => {
    const names = await namesStarting(host, `${repository_id}.`)
    await removeTree(
      host,
      ...names.filter(name => !name.endsWith('.lock')).map(name => join(host.mirrors, name)),
    )
  })
  await removeTree(host, join(host.mirrors, `${repository_id}.lock`))
  host.fingerprints.delete(repository_id)
}
