import { type Changes, readCachedChanges } from '../../git/read/changes.ts'
import { type ReadDeps, readStoredObjects, type StoredRun } from './stored-objects.ts'

const PATCH_BYTES = 2 * 1024 ** 2

/** Returns the changes between two trees of a run. Null and errors as of `readStoredObjects`. */
export const readTrees = (
  deps: ReadDeps,
  run: StoredRun,
  { packs, from, to }: { packs: number; from: string; to: string },
): Promise<Changes | null> =>
  readStoredObjects(deps, run, { packs, objects: [from, to], base_sha: null }, kept =>
    readCachedChanges(deps.git, kept, from, to, { max_patch_bytes: PATCH_BYTES }),
  )
