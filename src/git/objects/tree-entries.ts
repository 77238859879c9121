import { setImmediate as nextTick } from 'node:timers/promises'
import { GitError } from '../process/git-error.ts'

export type EntryKind = 'folder' | 'file' | 'link' | 'submodule'

/** An entry of a tree. Of a search, `name` is its path below the folder. */
export type TreeEntry = { name: Buffer; kind: EntryKind; executable: boolean; sha: string }

const SHA_BYTES = 20
/** Entries that are processed before the event loop gets a turn: a few milliseconds. */
const ENTRIES_AT_A_TIME = 20_000
const kinds: Record<string, EntryKind> = { '40': 'folder', '120': 'link', '160': 'submodule' }

/** Returns an entry by its mode in octal digits, as a tree or `ls-tree` has it. */
export function entryOf(mode: string, name: Buffer, sha: string): TreeEntry {
  const kind = kinds[mode.replace(/^0/, '').slice(0, -3)] ?? 'file'
  return { name, kind, executable: kind === 'file' && (Number.parseInt(mode, 8) & 0o111) !== 0, sha }
}

/**
 * Returns a part of the entries of a tree: folders first, then all others, each in git's order. Only this
 * part is kept in memory as objects. GitError `corrupt`.
 */
export async function pageOfTree(
  bytes: Buffer,
  { skip, limit }: { skip: number; limit: number },
): Promise<{ entries: TreeEntry[]; total: number }> {
  const folders: number[] = []
  const others: number[] = []
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] === 0x34) folders.push(at)
    else others.push(at)
    at = nextEntry(bytes, at)
    if ((folders.length + others.length) % ENTRIES_AT_A_TIME === 0) await nextTick()
  }
  const all = folders.concat(others)
  return { entries: all.slice(skip, skip + limit).map(at => entryAt(bytes, at)), total: all.length }
}

/** Returns the entry of a tree with this name; null: there is none. GitError `corrupt`. */
export async function entryNamed(bytes: Buffer, name: Buffer): Promise<TreeEntry | null> {
  let entries = 0
  for (let at = 0; at < bytes.length; at = nextEntry(bytes, at)) {
    const start = bytes.indexOf(32, at) + 1
    if (bytes[start + name.length] === 0 && name.equals(bytes.subarray(start, start + name.length)))
      return entryAt(bytes, at)
    if (++entries % ENTRIES_AT_A_TIME === 0) await nextTick()
  }
  return null
}

function nextEntry(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(0, at)
  if (end < 0 || end + SHA_BYTES >= bytes.length) throw new GitError('corrupt', 'a tree cannot be read')
  return end + 1 + SHA_BYTES
}

function entryAt(bytes: Buffer, at: number): TreeEntry {
  const space = bytes.indexOf(32, at)
  const end = bytes.indexOf(0, space)
  return entryOf(
    bytes.toString('latin1', at, space),
    bytes.subarray(space + 1, end),
    bytes.toString('hex', end + 1, end + 1 + SHA_BYTES),
  )
}
