import { setImmediate as nextTick } from 'node:timers/promises'
import { GitError } from '../process/git-error.ts'
import type { TreeShape } from '../process/git-host.ts'

/**
 * `folders`: 20 bytes of object name and 4 bytes of name length for each folder, which takes less memory than
 * a JavaScript object for each.
 */
type Tree = { files: number; longest_file: number; folders: Buffer }

/** How many folders the trees of one check may name, in total and distinct: they are kept in memory. */
const MAX_FOLDERS = 2_000_000
const MAX_DISTINCT_FOLDERS = 500_000
const SHA_BYTES = 20
const FOLDER_BYTES = SHA_BYTES + 4
/** Entries that are processed before the event loop gets a turn: a few milliseconds. */
const ENTRIES_AT_A_TIME = 20_000

/**
 * Counts the paths of trees without walking them: each distinct tree is read once, and its count is the sum
 * over its entries, so that ten objects with 10¹⁰ paths cost ten steps. `earlier` holds shapes of earlier
 * checks; objects are immutable, so they stay valid.
 */
export class TreeShapes {
  readonly #earlier: ReadonlyMap<string, TreeShape>
  readonly #max_paths: number
  readonly #shapes = new Map<string, TreeShape>()
  readonly #trees = new Map<string, Tree>()
  readonly #named = new Set<string>()
  #folders = 0
  #entries = 0

  /** @param max_paths a tree with more entries counts as infinite and is not kept. */
  constructor(earlier: ReadonlyMap<string, TreeShape>, max_paths: number) {
    this.#earlier = earlier
    this.#max_paths = max_paths
  }

  /** The number of distinct trees that were read. */
  get read(): number {
    return this.#trees.size
  }

  /**
   * Adds the bytes of a tree, and returns its folders that must be read too, each once. GitError `corrupt`,
   * `too_large`.
   */
  async add(sha: string, bytes: Buffer): Promise<string[]> {
    if (this.#isKnown(sha) || this.#trees.has(sha)) return []
    let [files, longest_file, entries] = [0, 0, 0]
    const folders: Buffer[] = []
    const unread: string[] = []
    for (let at = 0; at < bytes.length; ) {
      const space = bytes.indexOf(32, at)
      const end = bytes.indexOf(0, space)
      if (space < 0 || end < 0 || end + SHA_BYTES >= bytes.length)
        throw new GitError('corrupt', `the tree ${sha} cannot be read`)
      const name_bytes = end - space - 1
      const next = end + 1 + SHA_BYTES
      if (++entries > this.#max_paths) {
        this.#shapes.set(sha, { paths: Number.POSITIVE_INFINITY, longest: 0 })
        return []
      }
      if (bytes[at] === 52 && space === at + 5) {
        folders.push(packed(bytes.subarray(end + 1, next), name_bytes))
        const folder = this.#name(bytes.toString('hex', end + 1, next))
        if (folder !== null) unread.push(folder)
      } else {
        files++
        longest_file = Math.max(longest_file, name_bytes)
      }
      at = next
      await this.#pause()
    }
    this.#trees.set(sha, { files, longest_file, folders: Buffer.concat(folders) })
    return unread
  }

  /**
   * Returns the shapes of all trees that were read. A folder that is not in the repository counts as empty.
   */
  async settle(): Promise<ReadonlyMap<string, TreeShape>> {
    for (const top of this.#trees.keys()) {
      const open = [top]
      for (let sha = open.at(-1); sha !== undefined; sha = open.at(-1)) {
        const tree = this.#isKnown(sha) ? undefined : this.#trees.get(sha)
        const shape = tree && (await this.#shapeOf(tree, open))
        if (shape === null) continue
        open.pop()
        if (shape !== undefined) this.#shapes.set(sha, shape)
      }
    }
    return this.#shapes
  }

  /** Returns null when folders must be counted first: these are added to `open`. */
  async #shapeOf({ files, longest_file, folders }: Tree, open: string[]): Promise<TreeShape | null> {
    let [paths, longest] = [files, longest_file]
    const before = open.length
    for (let at = 0; at < folders.length; at += FOLDER_BYTES) {
      const sha = folders.toString('hex', at, at + SHA_BYTES)
      await this.#pause()
      if (!this.#isKnown(sha) && this.#trees.has(sha)) open.push(sha)
      const below = this.#shapes.get(sha) ?? { paths: 0, longest: 0 }
      paths += below.paths
      longest = Math.max(longest, folders.readUInt32LE(at + SHA_BYTES) + 1 + below.longest)
    }
    return open.length > before ? null : { paths, longest }
  }

  /** Copies the shape of an earlier check, because the cache may be cleared meanwhile. */
  #isKnown(sha: string): boolean {
    const shape = this.#earlier.get(sha)
    if (shape !== undefined) this.#shapes.set(sha, shape)
    return this.#shapes.has(sha)
  }

  /** Returns null for a folder that was listed before, or whose shape is known. */
  #name(sha: string): string | null {
    if (++this.#folders > MAX_FOLDERS)
      throw new GitError('too_large', `the trees name more than ${MAX_FOLDERS} folders`)
    if (this.#named.has(sha)) return null
    if (this.#named.size >= MAX_DISTINCT_FOLDERS)
      throw new GitError('too_large', `the trees name more than ${MAX_DISTINCT_FOLDERS} different folders`)
    this.#named.add(sha)
    return this.#isKnown(sha) ? null : sha
  }

  #pause(): Promise<void> | undefined {
    return ++this.#entries % ENTRIES_AT_A_TIME === 0 ? nextTick() : undefined
  }
}

function packed(sha: Buffer, name_bytes: number): Buffer {
  const folder = Buffer.allocUnsafe(FOLDER_BYTES)
  sha.copy(folder)
  folder.writeUInt32LE(name_bytes, SHA_BYTES)
  return folder
}
