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
    const git_dir = gitDirOf(path)
    if (git_dir === null) return null
    const parts = ['HEAD', 'packed-refs', 'reftable/tables.list'].map(name =>
      mark(name, statSync(join(git_dir, name), { bigint: true, throwIfNoEntry: false })),
    )
    return walk(join(git_dir, 'refs'), parts) ? parts.join('\n') : null
  } catch {
    return null
  }
}

/** Returns the folder with the objects and refs of a repository; null for a linked work tree. */
export function gitDirOf(path: string): string | null {
  const inner = statSync(join(path, '.git'), { throwIfNoEntry: false })
  if (inner && !inner.isDirectory()) return null
  return inner ? join(path, '.git') : path
}

/**
 * Returns whether two fingerprints of a repository are equal, except for one ref of the given full name and
 * the folders that lead to it.
 */
export function differOnlyIn(git_dir: string, ref: string, before: string, after: string): boolean {
  const parts = ref.split('/')
  const paths = new Set(parts.map((_, n) => join(git_dir, ...parts.slice(0, n + 1))))
  const others = (fingerprint: string) =>
    fingerprint
      .split('\n')
      .filter(line => !paths.has(line.split(' ').slice(0, -3).join(' ')))
      .sort()
      .join('\n')
  return others(before) === others(after)
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
