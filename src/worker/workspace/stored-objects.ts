import {
  CACHE_IDLE_MS,
  type CacheOwner,
  dropObjectCache,
  sweepObjectCaches,
  withObjectCache,
} from '../../git/objects/object-cache.ts'
import { GitError } from '../../git/process/git-error.ts'
import type { GitHost } from '../../git/process/git-host.ts'
import { loadObjects } from '../base/kept-objects.ts'
import type { WorkerServices } from '../services.ts'

/** Stored packs were within the limits of their time, which may have been larger. */
const BOUNDS = { max_bytes: 1024 ** 3, fetch_ms: 10 * 60_000 }

export type StoredRun = { organization_id: number; id: number; repository_id: number | null }
/** Of the first `packs` packs of a run; `base_sha`: the commit that they build on, which the remote has. */
type StoredObjects = { packs: number; objects: string[]; base_sha: string | null }

/**
 * Reads objects of a run on any machine: they are loaded into its object cache first. Null: objects are
 * missing permanently. Throws GitError when the remote or git is unavailable.
 */
export async function readStoredObjects<T>(
  deps: Pick<WorkerServices, 'db' | 'git' | 'log'>,
  run: StoredRun,
  { packs, objects, base_sha }: StoredObjects,
  read: (kept: CacheOwner) => Promise<T>,
): Promise<T | null> {
  const kept: CacheOwner = { run_id: run.id, repository_id: run.repository_id }
  const attempt = () =>
    withObjectCache(deps.git, run.id, async () => {
      const wanted = { organization_id: run.organization_id, kept, packs, objects, base_sha }
      return (await loadObjects(deps, wanted, BOUNDS)) ? await read(kept) : null
    }).catch(error => {
      if (error instanceof GitError && error.code === 'corrupt') return null
      throw error
    })
  try {
    // The copy on this disk may be damaged; the one in the database is not.
    return (await attempt()) ?? ((await dropObjectCache(deps.git, run.id)) ? await attempt() : null)
  } finally {
    sweepLater(deps.git)
  }
}

const to_be_swept = new WeakSet<GitHost>()

/** In a process without a worker nothing else removes them. */
function sweepLater(git: GitHost): void {
  if (to_be_swept.has(git)) return
  to_be_swept.add(git)
  const sweep = () => {
    to_be_swept.delete(git)
    sweepObjectCaches(git, CACHE_IDLE_MS).catch(() => {})
  }
  setTimeout(sweep, CACHE_IDLE_MS + 1_000).unref()
}
