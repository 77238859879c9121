import { mirroredRepositories, removeMirror } from '../../git/mirrors/remove-mirror.ts'
import { GitError } from '../../git/process/git-error.ts'
import { removedRepositories } from '../../store/access/repositories.ts'
import type { WorkerDeps } from '../settings.ts'

/** Whatever was asked of a mirror before its repository was removed has ended by then. */
const HOURS = 1

/** Removes the mirrors on this machine whose repository was removed. One that is still busy goes the next time. */
export async function sweepMirrors({ db, git }: Pick<WorkerDeps, 'db' | 'git'>): Promise<void> {
  for (const id of await removedRepositories(db, await mirroredRepositories(git), HOURS))
    await removeMirror(git, id).catch(error => {
      if (!(error instanceof GitError)) throw error
    })
}
