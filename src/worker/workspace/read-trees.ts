import { CACHE_IDLE_MS, dropObjectCache, type Kept, sweepObjectCaches, withObjectCache } from '../../git/objects/object-cache.ts'
import { GitError } from '../../git/process/git-error.ts'
import type { GitHost } from '../../git/process/git-host.ts'
import { type Changes, readCachedChanges } from '../../git/read/changes.ts'
import { bringObjects } from '../base/kept-objects.ts'

const PATCH_BYTES = 2 * 1024 ** 2
/** What was stored was within the limits then, whatever they are now. */
const BOUNDS = { max_bytes: 1024 ** 3, fetch_ms: 10 * 60_000 }

/**
 * What lies between two trees of a run, on any machine: what was kept of the run is brought here first. Null: it cannot be had any more.
 * GitError when the remote or git is not there.
 */
export async function readTrees(
  deps: Parameters<typeof bringObjects>[0],
  run: { organization_id: number; id: number; repository_id: number | null },
  { packs, from, to }: { packs: number; from: string; to: string },
): Promise<Changes | null> {
  const kept: Kept = { run_id: run.id, repository_id: run.repository_id }
  const read = () =>
    withObjectCache(deps.git, run.id, async () => {
      const there = await bringObjects(deps, run.organization_id, kept, packs, [from, to], BOUNDS)
      return there ? await readCachedChanges(deps.git, kept, from, to, { max_patch_bytes: PATCH_BYTES }) : null
    }).catch(error => {
      if (error instanceof GitError && error.code === 'corrupt') return null
      throw error
    })
  try {
    // What is on this disk may be broken; what is in the database is not.
    return (await read()) ?? ((await dropObjectCache(deps.git, run.id)) ? await read() : null)
  } finally {
    sweepLater(deps.git)
  }
}

const to_be_swept = new WeakSet<GitHost>()

/** A process that works on no runs has nobody else who clears up. */
function sweepLater(git: GitHost): void {
  if (to_be_swept.has(git)) return
  to_be_swept.add(git)
  const sweep = () => {
    to_be_swept.delete(git)
    sweepObjectCaches(git, CACHE_IDLE_MS).catch(() => {})
  }
  setTimeout(sweep, CACHE_IDLE_MS + 1_000).unref()
}
