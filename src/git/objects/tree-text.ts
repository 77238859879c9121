import { GitError } from '../process/git-error.ts'

/** The entries of one tree by name, in bytes as Latin-1. */
export type TreeEntries = Map<string, { mode: string; sha: string }>

const SHA_BYTES = 20

/** Returns the entries of a tree. GitError `corrupt`. */
export function parseTree(bytes: Buffer): TreeEntries {
  const entries: TreeEntries = new Map()
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at)
    const end = bytes.indexOf(0, space)
    if (space < 0 || end < 0 || end + SHA_BYTES >= bytes.length)
      throw new GitError('corrupt', 'a tree cannot be read')
    const next = end + 1 + SHA_BYTES
    entries.set(bytes.toString('latin1', space + 1, end), {
      mode: bytes.toString('latin1', at, space),
      sha: bytes.toString('hex', end + 1, next),
    })
    at = next
  }
  return entries
}

/** Returns the bytes of a tree. In git's order, a folder counts as its name and a slash. */
export function treeBytes(entries: TreeEntries): Buffer {
  const keys = [...entries].map(([name, { mode }]) => [mode === '40000' ? `${name}/` : name, name] as const)
  keys.sort(([a], [b]) => (a < b ? -1 : 1))
  return Buffer.concat(
    keys.flatMap(([, name]) => {
      const entry = entries.get(name)
      return entry === undefined
        ? []
        : [Buffer.from(`${entry.mode} ${name}\0`, 'latin1'), Buffer.from(entry.sha, 'hex')]
    }),
  )
}
