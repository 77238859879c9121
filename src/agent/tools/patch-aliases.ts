import { fileIds } from '../../sandbox/files.ts'
import type { FilePatch } from '../edits/patch-format.ts'
import type { ToolContext } from '../tool.ts'
import { workspacePath } from '../workspace-path.ts'

/**
 * Returns two different paths of a patch that are the same file, by links: the content for one would
 * overwrite that for the other. Null: there are none. A link that is deleted is no name of the file that it
 * leads to.
 */
export async function aliasesIn(
  { sandbox, signal }: ToolContext,
  patches: FilePatch[],
): Promise<[string, string] | null> {
  const follows = new Map<string, boolean>()
  for (const patch of patches) {
    const path = workspacePath(patch.path)
    follows.set(path, patch.kind !== 'delete' || follows.get(path) === true)
    if (patch.kind === 'update' && patch.move_to !== null) follows.set(workspacePath(patch.move_to), true)
  }
  if (follows.size < 2) return null
  const names = [...follows].map(([path, follow]) => ({ path, follow }))
  const ids = await fileIds(await sandbox(), names, { signal })
  const paths = new Map<string, string>()
  for (const [i, { path }] of names.entries()) {
    const id = ids[i] ?? null
    const other = id === null ? undefined : paths.get(id)
    if (other !== undefined) return [other, path]
    if (id !== null) paths.set(id, path)
  }
  return null
}
