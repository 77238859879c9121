import type { Log } from '../core/log.ts'
import { GitError } from '../git/git-error.ts'
import type { GitHost } from '../git/git-host.ts'
import { importPack, type Kept, keptPacks, markKept, missingObjects, withKept } from '../git/kept-repository.ts'
import { refreshMirror } from '../git/mirrors.ts'
import { hasCommit } from '../git/revisions.ts'
import { getPack, listPacks } from '../store/checkpoint-packs.ts'
import type { Db } from '../store/database.ts'
import { getRepository } from '../store/repositories.ts'

type Deps = { db: Db; git: GitHost; log: Log }

const FETCH_MS = 10 * 60_000

/**
 * Brings what was kept of a run to this machine: its first `packs` packs from the database, and from the remote what they build on. A pack
 * that turns out to be broken is passed over: what needs it is missing then. False: one of `objects` is. To be called within `withKept`.
 */
export async function bringObjects(
  deps: Deps,
  organization_id: number,
  kept: Kept,
  packs: number,
  objects: string[],
  max_bytes: number,
): Promise<boolean> {
  const here = await keptPacks(deps.git, kept.run_id)
  if (here < packs) {
    const wanted = (await listPacks(deps.db, organization_id, kept.run_id)).filter(({ n }) => n > here && n <= packs)
    await bringBases(deps, organization_id, kept, new Set(wanted.flatMap(({ base_sha }) => base_sha ?? [])))
    for (const { n, tip } of wanted) {
      const pack = await getPack(deps.db, organization_id, kept.run_id, n)
      const found = pack?.sound
        ? await importPack(deps.git, kept, pack.content, [tip], max_bytes).catch(refused)
        : new GitError('corrupt', 'it is not what was stored')
      if (found) deps.log('error', 'a pack of a checkpoint cannot be used', { run_id: kept.run_id, pack: n, reason: found.message })
    }
    await markKept(deps.git, kept.run_id, packs)
  }
  return (await missingObjects(deps.git, kept, objects)).length === 0
}

/** The commit that the next pack of a run builds on, with all of its packs brought here; null: there is none, or it cannot be had. */
export async function bringTip(deps: Deps, organization_id: number, kept: Kept, max_bytes: number): Promise<string | null> {
  const newest = (await listPacks(deps.db, organization_id, kept.run_id)).at(-1)
  if (newest === undefined) return null
  const { n, tip } = newest
  const there = await withKept(deps.git, kept.run_id, () => bringObjects(deps, organization_id, kept, n, [tip], max_bytes)).catch(refused)
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
async function bringBases({ db, git }: Deps, organization_id: number, { repository_id }: Kept, bases: Set<string>): Promise<void> {
  if (repository_id === null) return
  for (const sha of bases) {
    if (await hasCommit(git, repository_id, sha)) continue
    const repository = await getRepository(db, organization_id, repository_id)
    if (repository) await refreshMirror(git, repository, { wait_ms: FETCH_MS })
    return
  }
}
