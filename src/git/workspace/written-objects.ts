import {
  addPack,
  type CacheOwner,
  inObjectCache,
  markKept,
  withObjectCache,
} from '../objects/object-cache.ts'
import { type ObjectReader, withObjectReader } from '../objects/object-reader.ts'
import { type RecentObjects, recentObjects } from '../objects/recent-objects.ts'
import { writePack } from '../objects/write-pack.ts'
import type { WrittenObject } from '../objects/written-object.ts'
import type { GitHost } from '../process/git-host.ts'
import { type KnownObjects, NeedsGit } from './changed-tree.ts'

/** Beyond this, git takes and packs the next snapshot. */
const MAX_BYTES = 16 * 1024 ** 2
/** A difference from a larger file is not computed. */
const MAX_FILE_BYTES = 1024 ** 2

/**
 * The objects that the service has written for snapshots of one run. None of them is on a disk until git
 * needs it: packs go to the database, and git learns all objects at once.
 */
export class WrittenObjects implements KnownObjects {
  readonly #host: GitHost
  readonly #kept: CacheOwner
  readonly #recent: RecentObjects
  /** Snapshots since the last one that is stored, by their number; null: git has taken it. */
  readonly #unstored = new Map<number, readonly WrittenObject[] | null>()
  /** Not in the object cache of the run. */
  readonly #unknown_to_git = new Map<string, WrittenObject>()
  #packs = 0
  #snapshots = 0
  /** Whether a snapshot is stored, so that packs can build on it. */
  #has_stored = false

  constructor(host: GitHost, kept: CacheOwner) {
    this.#host = host
    this.#kept = kept
    this.#recent = recentObjects(host)
  }

  get(sha: string): Buffer | null {
    return this.#unknown_to_git.get(sha)?.bytes ?? this.#recent.get(sha)
  }

  async loadTrees(trees: string[], more: (sha: string) => string[]): Promise<void> {
    await this.#withReader(reader =>
      reader.read(trees, async (sha, type, bytes) => {
        if (type !== 'tree') throw new NeedsGit('a tree that is not stored')
        this.#recent.set(sha, Buffer.from(bytes))
        return more(sha)
      }),
    )
  }

  async loadFiles(files: string[]): Promise<void> {
    await this.#withReader(async reader => {
      const small: string[] = []
      await reader.describe(files, ({ name, type, bytes }) => {
        if (type === 'blob' && bytes <= MAX_FILE_BYTES) small.push(name)
      })
      await reader.read(small, async (sha, _type, bytes) => {
        this.#recent.set(sha, Buffer.from(bytes))
        return []
      })
    })
  }

  #withReader(work: (reader: ObjectReader) => Promise<void>): Promise<void> {
    return withObjectReader(this.#host, inObjectCache(this.#host, this.#kept), work)
  }

  /**
   * Numbers a snapshot. `objects`: those that were written for it on top of the snapshot before; null: git
   * has taken it, with objects of its own.
   */
  addSnapshot(objects: readonly WrittenObject[] | null): number {
    const number = ++this.#snapshots
    this.#unstored.set(number, objects)
    for (const object of objects ?? []) {
      this.#recent.set(object.sha, object.bytes)
      // The first one may be the base of others.
      if (!this.#unknown_to_git.has(object.sha)) this.#unknown_to_git.set(object.sha, object)
    }
    return number
  }

  /** Whether git must take and pack the next snapshot. */
  get isFull(): boolean {
    const unstored = [...this.#unstored.values()].flatMap(objects => objects ?? [])
    return bytesOf(unstored) > MAX_BYTES || bytesOf(this.#unknown_to_git.values()) > MAX_BYTES
  }

  /**
   * Returns what a pack needs for a snapshot, beyond the last one that is stored. Null: git has objects that
   * are in no pack.
   */
  unstored(number: number): WrittenObject[] | null {
    if (!this.#has_stored) return null
    const found = new Map<string, WrittenObject>()
    for (const [of_snapshot, objects] of this.#unstored) {
      if (of_snapshot > number) continue
      if (objects === null) return null
      for (const object of objects) if (!found.has(object.sha)) found.set(object.sha, object)
    }
    return [...found.values()]
  }

  /** All objects of a snapshot, and so of those before, are stored. */
  stored(number: number): void {
    this.#has_stored = true
    for (const earlier of this.#unstored.keys()) if (earlier <= number) this.#unstored.delete(earlier)
  }

  /** Git packs the next snapshot: its pack has no versions between that one and the last that is stored. */
  leaveToGit(): void {
    for (const number of this.#unstored.keys()) this.#unstored.set(number, null)
  }

  /** The run has this many packs. `tip`: the commit of the last one, if it was written here. */
  packed(packs: number, tip: WrittenObject | null): void {
    if (tip !== null) this.#unknown_to_git.set(tip.sha, tip)
    this.#packs = packs
  }

  /** Brings all objects into the object cache of the run. Returns their pack; null: it had them. GitError. */
  async toGit(): Promise<Buffer | null> {
    const objects = [...this.#unknown_to_git.values()]
    const packs = this.#packs
    if (objects.length === 0) return null
    // The objects that they build on may not be there yet.
    const pack = await writePack(objects, 'complete')
    await withObjectCache(this.#host, this.#kept.run_id, async () => {
      await addPack(this.#host, this.#kept, pack)
      if (packs > 0) await markKept(this.#host, this.#kept.run_id, packs)
    })
    for (const { sha } of objects) this.#unknown_to_git.delete(sha)
    return pack
  }
}

function bytesOf(objects: Iterable<WrittenObject>): number {
  let bytes = 0
  for (const object of objects) bytes += object.bytes.length
  return bytes
}
