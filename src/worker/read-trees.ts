import { type Changes, readKeptChanges } from '../git/changes.ts'
import { GitError } from '../git/git-error.ts'
import { dropKept, type Kept, withKept } from '../git/kept-repository.ts'
import { bringObjects } from './kept-objects.ts'

const PATCH_BYTES = 2 * 1024 ** 2
/** What was stored was within the limits then, whatever they are now. */
const PACK_BYTES = 1024 ** 3

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
    withKept(deps.git, run.id, async () => {
      const there = await bringObjects(deps, run.organization_id, kept, packs, [from, to], PACK_BYTES)
      return there ? await readKeptChanges(deps.git, kept, from, to, { max_patch_bytes: PATCH_BYTES }) : null
    }).catch(error => {
      if (error instanceof GitError && error.code === 'corrupt') return null
      throw error
    })
  // What is on this disk may be broken; what is in the database is not.
  return (await read()) ?? ((await dropKept(deps.git, run.id)) ? await read() : null)
}
