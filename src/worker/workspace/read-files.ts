import { type Changes, readCachedChanges } from '../../git/read/changes.ts'
import {
  type FileContent,
  type FolderPage,
  listFolder,
  type PathProblem,
  readTreeFile,
} from '../../git/read/tree-files.ts'
import type { WorkerServices } from '../services.ts'
import { readStoredObjects, type StoredRun } from './stored-objects.ts'

/** `root`: a tree of the run's first `packs` packs, or `base_sha` itself. */
type StoredTree = { packs: number; base_sha: string | null; root: string }

/**
 * Returns the reader of the files of stored trees, for the API. Null and errors as of `readStoredObjects`.
 */
export const storedFiles = (deps: Pick<WorkerServices, 'db' | 'git' | 'log'>) => ({
  list: (
    run: StoredRun,
    { root, ...stored }: StoredTree,
    request: Parameters<typeof listFolder>[3],
  ): Promise<FolderPage | PathProblem | null> =>
    readStoredObjects(deps, run, { ...stored, objects: [root] }, kept =>
      listFolder(deps.git, kept, root, request),
    ),
  read: (
    run: StoredRun,
    { root, ...stored }: StoredTree,
    path: string,
    max_bytes: number,
  ): Promise<FileContent | PathProblem | null> =>
    readStoredObjects(deps, run, { ...stored, objects: [root] }, kept =>
      readTreeFile(deps.git, kept, root, path, max_bytes),
    ),
})

const PATCH_BYTES = 2 * 1024 ** 2

/** Returns the changes between two trees of a run. Null and errors as of `readStoredObjects`. */
export const readTrees = (
  deps: Pick<WorkerServices, 'db' | 'git' | 'log'>,
  run: StoredRun,
  { packs, from, to }: { packs: number; from: string; to: string },
): Promise<Changes | null> =>
  readStoredObjects(deps, run, { packs, objects: [from, to], base_sha: null }, kept =>
    readCachedChanges(deps.git, kept, from, to, { max_patch_bytes: PATCH_BYTES }),
  )
