import { refreshMirrorNow } from '../../git/mirrors/mirrors.ts'
import {
  type CacheOwner,
  countCachedPacks,
  importPack,
  markKept,
  missingObjects,
  withObjectCache,
} from '../../git/objects/object-cache.ts'
import { GitError } from '../../git/process/git-error.ts'
import { hasCommit } from '../../git/read/revisions.ts'
import { getRepository } from '../../store/access/repositories.ts'
import { getPack, listPacks } from '../../store/workspaces/checkpoint-packs.ts'
import type { WorkerServices } from '../services.ts'

type Deps = Pick<WorkerServices, 'db' | 'git' | 'log'>

/**
 * `fetch_ms`: the timeout of a fetch of the repository. `signal` rejects whatever is in progress, with its
 * reason.
 */
type Bounds = { max_bytes: number; fetch_ms: number; signal?: AbortSignal }

/**
 * The checkpoints of a run that this machine needs: its first `packs` packs, with `objects` among them.
 * `base_sha`: some of them may be only in this commit of the remote.
 */
type WantedObjects = {
  organization_id: number
  kept: CacheOwner
  packs: number
  objects: string[]
  base_sha?: string | null
}

/**
 * Loads the checkpoints of a run onto this machine: packs from the database, and the commits that they build
 * on from the remote. A damaged pack is skipped, so its objects are missing; one that could not be loaded now
 * is retried the next time. False: one of `objects` is missing. Call it inside `withObjectCache`.
 */
export async function loadObjects(
  deps: Deps,
  { organization_id, kept, packs, objects, base_sha }: WantedObjects,
  bounds: Bounds,
): Promise<boolean> {
  const here = await countCachedPacks(deps.git, kept.run_id)
  if (here < packs) {
    const wanted = (await listPacks(deps.db, organization_id, kept.run_id)).filter(
      ({ n }) => n > here && n <= packs,
    )
    await fetchBases(
      deps,
      organization_id,
      kept,
      new Set(wanted.flatMap(({ base_sha }) => base_sha ?? [])),
      bounds,
    )
    let all = true
    for (const { n, tip } of wanted) {
      const pack = await getPack(deps.db, organization_id, kept.run_id, n)
      const found = pack?.sound
        ? await importPack(deps.git, kept, { pack: pack.content, objects: [tip], ...bounds }).catch(refused)
        : new GitError('corrupt', 'its digest does not match')
      if (found?.code === 'timeout' || found?.code === 'failed') all = false
      if (found)
        deps.log('error', 'a pack of a checkpoint cannot be used', {
          run_id: kept.run_id,
          pack: n,
          reason: found.message,
        })
    }
    if (all) await markKept(deps.git, kept.run_id, packs)
  }
  if ((await missingObjects(deps.git, kept, objects)).length === 0) return true
  if (base_sha == null) return false
  await fetchBases(deps, organization_id, kept, new Set([base_sha]), bounds)
  return (await missingObjects(deps.git, kept, objects)).length === 0
}

/**
 * Loads all packs of a run and returns the commit that the next pack builds on. Null: there is none, or it
 * cannot be loaded.
 */
export async function loadTip(
  deps: Deps,
  organization_id: number,
  kept: CacheOwner,
  bounds: Bounds,
): Promise<string | null> {
  const newest = (await listPacks(deps.db, organization_id, kept.run_id)).at(-1)
  if (newest === undefined) return null
  const { n, tip } = newest
  const loaded = await withObjectCache(
    deps.git,
    kept.run_id,
    () => loadObjects(deps, { organization_id, kept, packs: n, objects: [tip] }, bounds),
    bounds.signal,
  ).catch(refused)
  if (loaded === true) return tip
  deps.log('error', 'the checkpoints of a run cannot be loaded', {
    run_id: kept.run_id,
    reason: loaded === false ? 'objects are missing' : loaded.message,
  })
  return null
}

function refused(error: unknown): GitError {
  if (error instanceof GitError) return error
  throw error
}

/** The mirror of this machine may not exist yet. */
async function fetchBases(
  { db, git }: Deps,
  organization_id: number,
  { repository_id }: CacheOwner,
  bases: Set<string>,
  { fetch_ms, signal }: Bounds,
): Promise<void> {
  if (repository_id === null) return
  for (const sha of bases) {
    if (await hasCommit(git, repository_id, sha)) continue
    const repository = await getRepository(db, organization_id, repository_id)
    if (repository)
      await refreshMirrorNow(git, repository, {
        timeout_ms: fetch_ms,
        wait_ms: fetch_ms,
        ...(signal && { signal }),
      })
    return
  }
}
