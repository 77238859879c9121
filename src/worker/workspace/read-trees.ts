import { CACHE_IDLE_MS, dropObjectCache, type Kept, sweepObjectCaches, withObjectCache } from '../../git/objects/object-cache.ts'
import { GitError } from '../../git/process/git-error.ts'
import type { GitHost } from '../../git/process/git-host.ts'
import { type Changes, readCachedChanges } from '../../git/read/changes.ts'
import { loadObjects } from '../base/kept-objects.ts'

const PATCH_BYTES = 2 * 1024 ** 2
/** Stored packs were within the limits of their time, which may have been larger. */
const BOUNDS = { max_bytes: 1024 ** 3, fetch_ms: 10 * 60_000 }

/**
 * Returns the changes between two trees of a run, on any machine: checkpoints are loaded first. Null: objects are missing for good. Throws
 * GitError when the remote or git is unavailable.
 */
export async function readTrees(
  deps: Parameters<typeof loadObjects>[0],
  run: { organization_id: number; id: number; repository_id: number | null },
  { packs, from, to }: { packs: number; from: string; to: string },
): Promise<Changes | null> {
  const kept: Kept = { run_id: run.id, repository_id: run.repository_id }
  const read = () =>
    withObjectCache(deps.git, run.id, async () => {
      const complete = await loadObjects(deps, { organization_id: run.organization_id, kept, packs, objects: [from, to] }, BOUNDS)
      return complete ? await readCachedChanges(deps.git, kept, from, to, { max_patch_bytes: PATCH_BYTES }) : null
    }).catch(error => {
      if (error instanceof GitError && error.code === 'corrupt') return null
      throw error
    })
  try {
    // The copy on this disk may be damaged; the one in the database is not.
    return (await read()) ?? ((await dropObjectCache(deps.git, run.id)) ? await read() : null)
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
