import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const NAME = 'id'

/**
 * Returns the name of this data folder, created at the first start: names of machines change, as those of
 * containers do with each start, and two machines may have the same. Of several processes that make it at
 * once all get the same.
 */
export function ownFolderId(root: string): string {
  const known = folderId(root)
  if (known !== null) return known
  const id = randomUUID()
  const draft = join(root, `${NAME}.${id}`)
  writeFileSync(draft, `${id}\n`, { flag: 'wx', mode: 0o644 })
  try {
    linkSync(draft, join(root, NAME))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // It was cut off; or another process was faster.
    if (folderId(root) === null) rmSync(join(root, NAME))
  } finally {
    rmSync(draft)
  }
  return ownFolderId(root)
}

/** Returns the name of the data folder at `root`; null when there is none, or it has no name. */
export function folderId(root: string): string | null {
  try {
    const text = readFileSync(join(root, NAME), 'utf8').trim()
    return /^[0-9a-f-]{36}$/.test(text) ? text : null
  } catch {
    return null
  }
}
