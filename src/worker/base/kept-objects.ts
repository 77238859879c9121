import type { Log } from '../../core/log.ts'
import { refreshMirror } from '../../git/mirrors/mirrors.ts'
import { countCachedPacks, importPack, type Kept, markKept, missingObjects, withObjectCache } from '../../git/objects/object-cache.ts'
import { GitError } from '../../git/process/git-error.ts'
import type { GitHost } from '../../git/process/git-host.ts'
import { hasCommit } from '../../git/read/revisions.ts'
import { getRepository } from '../../store/access/repositories.ts'
import type { Db } from '../../store/database.ts'
import { getPack, listPacks } from '../../store/workspaces/checkpoint-packs.ts'

type Deps = { db: Db; git: GitHost; log: Log }

/** `fetch_ms`: how long a fetch of the repository is waited for. `signal` ends whatever is waited for, with its reason. */
type Bounds = { max_bytes: number; fetch_ms: number; signal?: AbortSignal }

/**
 * Brings what was kept of a run to this machine: its first `packs` packs from the database, and from the remote what they build on. A pack
 * that turns out to be broken is passed over: what needs it is missing then; one that only could not be brought now is tried again the next
 * time. False: one of `objects` is missing. To be called within `withObjectCache`.
 */
export async function bringObjects(
  deps: Deps,
  organization_id: number,
  kept: Kept,
  packs: number,
  objects: string[],
  bounds: Bounds,
): Promise<boolean> {
  const here = await countCachedPacks(deps.git, kept.run_id)
  if (here < packs) {
    const wanted = (await listPacks(deps.db, organization_id, kept.run_id)).filter(({ n }) => n > here && n <= packs)
    await bringBases(deps, organization_id, kept, new Set(wanted.flatMap(({ base_sha }) => base_sha ?? [])), bounds)
    let all = true
    for (const { n, tip } of wanted) {
      const pack = await getPack(deps.db, organization_id, kept.run_id, n)
      const found = pack?.sound
        ? await importPack(deps.git, kept, pack.content, [tip], bounds.max_bytes, bounds.signal).catch(refused)
        : new GitError('corrupt', 'it is not what was stored')
      if (found?.code === 'timeout' || found?.code === 'failed') all = false
      if (found) deps.log('error', 'a pack of a checkpoint cannot be used', { run_id: kept.run_id, pack: n, reason: found.message })
    }
    if (all) await markKept(deps.git, kept.run_id, packs)
  }
  return (await missingObjects(deps.git, kept, objects)).length === 0
}

/** The commit that the next pack of a run builds on, with all of its packs brought here; null: there is none, or it cannot be had. */
export async function bringTip(deps: Deps, organization_id: number, kept: Kept, bounds: Bounds): Promise<string | null> {
  const newest = (await listPacks(deps.db, organization_id, kept.run_id)).at(-1)
  if (newest === undefined) return null
  const { n, tip } = newest
  const there = await withObjectCache(
    deps.git,
    kept.run_id,
    () => bringObjects(deps, organization_id, kept, n, [tip], bounds),
    bounds.signal,
  ).catch(refused)
  if (there === true) return tip
  deps.log('error', 'what was kept of a run cannot be brought here', {
    run_id: kept.run_id,
    reason: there === false ? 'objects are missing' : there.message,
  })
  return null
}

function refused(error: unknown): GitError {
  if (error instanceof GitError) return error
  throw error
}

/** The mirror of this machine may never have been fetched. */
async function bringBases(
  { db, git }: Deps,
  organization_id: number,
  { repository_id }: Kept,
  bases: Set<string>,
  { fetch_ms, signal }: Bounds,
): Promise<void> {
  if (repository_id === null) return
  for (const sha of bases) {
    if (await hasCommit(git, repository_id, sha)) continue
    const repository = await getRepository(db, organization_id, repository_id)
    if (repository) await refreshMirror(git, repository, { timeout_ms: fetch_ms, wait_ms: fetch_ms, ...(signal && { signal }) })
    return
  }
}
