import { type BigIntStats, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const MAX_ENTRIES = 2_000

/**
 * Returns a fingerprint of the refs of a local repository: names, inodes, times and sizes of the files that
 * hold them. Equal fingerprints mean that no ref has moved, because git replaces such files and never writes
 * into them. Costs a few stats and no process. Null when it cannot be computed: a linked work tree, too many
 * refs, no permission.
 */
export function localFingerprint(path: string): string | null {
  try {
    const inner = statSync(join(path, '.git'), { throwIfNoEntry: false })
    if (inner && !inner.isDirectory()) return null
    const git_dir = inner ? join(path, '.git') : path
    const parts = ['HEAD', 'packed-refs', 'reftable/tables.list'].map(name =>
      mark(name, statSync(join(git_dir, name), { bigint: true, throwIfNoEntry: false })),
    )
    return walk(join(git_dir, 'refs'), parts) ? parts.join('\n') : null
  } catch {
    return null
  }
}

const mark = (name: string, stat: BigIntStats | undefined) =>
  stat ? `${name} ${stat.ino} ${stat.mtimeNs} ${stat.size}` : `${name} -`

function walk(folder: string, parts: string[]): boolean {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (parts.length > MAX_ENTRIES) return false
    const path = join(folder, entry.name)
    parts.push(mark(path, statSync(path, { bigint: true, throwIfNoEntry: false })))
    if (entry.isDirectory() && !walk(path, parts)) return false
  }
  return true
}
