import { mirroredRepositories, removeMirror } from '../../git/mirrors/remove-mirror.ts'
import { GitError } from '../../git/process/git-error.ts'
import { removedRepositories } from '../../store/access/repositories.ts'
import type { WorkerServices } from '../services.ts'

/** By then every use of a mirror from before the removal of its repository has ended. */
const HOURS = 1

/**
 * Removes the mirrors on this machine whose repository was removed. A mirror in use is removed the next time.
 */
export async function sweepMirrors({ db, git }: Pick<WorkerServices, 'db' | 'git'>): Promise<void> {
  for (const id of await removedRepositories(db, await mirroredRepositories(git), HOURS))
    await removeMirror(git, id).catch(error => {
      if (!(error instanceof GitError)) throw error
    })
}
