import { join } from 'node:path'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import type { GitCall } from '../process/run-git.ts'
import { objectCachePath } from './object-cache.ts'

/**
 * Commits of a run that are not pushed yet, on top of its repository. Only sandboxes of that run see them.
 */
export type RunObjects = { repository_id: number; run_id: number }

/**
 * The objects that git reads: those of a repository's mirror, by its id, or those of a run on top of them.
 * Refs are always the mirror's.
 */
export type Objects = number | RunObjects

/**
 * Returns the settings with which a git process finds them. New objects go to the run, and into the mirror
 * only for a plain repository id.
 */
export function objectsOf(
  host: GitHost,
  objects: Objects,
): Pick<GitCall, 'git_dir' | 'env'> & { git_dir: string } {
  if (typeof objects === 'number') return { git_dir: mirrorPath(host, objects) }
  const git_dir = mirrorPath(host, objects.repository_id)
  const GIT_OBJECT_DIRECTORY = join(objectCachePath(host, objects.run_id), 'objects')
  return {
    git_dir,
    env: { GIT_OBJECT_DIRECTORY, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(git_dir, 'objects') },
  }
}
