import {
  type CacheOwner,
  importPack,
  markKept,
  treeOf,
  withObjectCache,
} from '../../git/objects/object-cache.ts'
import { NO_FILES } from '../../git/objects/object-checks.ts'
import { writePack } from '../../git/objects/write-pack.ts'
import { type WrittenObject, writtenObject } from '../../git/objects/written-object.ts'
import { GitError } from '../../git/process/git-error.ts'
import type { GitHost } from '../../git/process/git-host.ts'
import type { Snapshot } from '../../git/workspace/checkpoint-commands.ts'
import type { WrittenObjects } from '../../git/workspace/written-objects.ts'
import type { NewPack } from '../../store/workspaces/checkpoints.ts'
import type { Snapshots } from './snapshots.ts'

/** A pack or a run exceeds the limits of the service. */
export class TooLarge extends Error {
  override name = 'TooLarge'
}

/** `tip`: the commit of the last pack that is stored; `known`: trees and commits that need no pack. */
type PackerInput = {
  git: GitHost
  kept: CacheOwner
  written: WrittenObjects
  snapshots: Pick<Snapshots, 'pack'>
  max_bytes: number
  base_sha: string | null
  tip: string | null
  known: string[]
}

/**
 * Packs the objects of snapshots that are not stored yet: those that the service has written itself, or those
 * that git finds in the sandbox, which the host checks one by one.
 */
export class Packer {
  readonly base_sha: string | null
  readonly #git: GitHost
  readonly #kept: CacheOwner
  readonly #snapshots: Pick<Snapshots, 'pack'>
  readonly #written: WrittenObjects
  readonly #max_bytes: number
  /** The commit of the pack that is being stored, if the service has written it. */
  #new_tip: WrittenObject | null = null
  readonly #known = new Set<string>([NO_FILES])
  #tip: string | null

  constructor({ git, kept, written, snapshots, max_bytes, base_sha, tip, known }: PackerInput) {
    this.#git = git
    this.#kept = kept
    this.#written = written
    this.#snapshots = snapshots
    this.#max_bytes = max_bytes
    this.base_sha = base_sha
    this.#tip = tip
    for (const sha of known) this.#known.add(sha)
  }

  /**
   * Null: there is nothing new in it. A commit of the agent that is too large, or that git's check rejects,
   * is removed from the snapshot. Rejects with TooLarge, SandboxError, GitError.
   */
  async pack(snapshot: Snapshot): Promise<NewPack | null> {
    await this.#knowBase()
    const { tree, head } = snapshot
    const new_head = head === null || this.#known.has(head) ? null : head
    this.#new_tip = null
    if (this.#known.has(tree) && new_head === null) return null
    const objects = new_head === null ? this.#written.unstored(snapshot.number) : null
    const written = objects === null ? null : await this.#write(tree, objects)
    if (written !== null) return written
    try {
      return await this.#create(tree, new_head)
    } catch (error) {
      const about_objects =
        error instanceof TooLarge ||
        (error instanceof GitError && ['corrupt', 'too_large'].includes(error.code))
      if (!about_objects || new_head === null) throw error
      snapshot.head = null
      return await this.#create(tree, null)
    }
  }

  /** The result of the last `pack` is stored, as number `packs` of the run unless it was null. */
  async stored(pack: NewPack | null, packs: number, snapshot: Snapshot): Promise<void> {
    for (const sha of [snapshot.tree, snapshot.head]) if (sha !== null) this.#known.add(sha)
    this.#written.stored(snapshot.number)
    if (pack === null) return
    this.#written.packed(packs, this.#new_tip)
    this.#tip = pack.tip
    if (this.#new_tip !== null) return
    await withObjectCache(this.#git, this.#kept.run_id, () => markKept(this.#git, this.#kept.run_id, packs))
  }

  /** The files are those of the newest checkpoint. */
  unchanged(snapshot: Snapshot): void {
    this.#written.stored(snapshot.number)
  }

  #parents(heads: string[]): string[] {
    const base = this.base_sha === null ? [] : [this.base_sha]
    return [...new Set([...(this.#tip === null ? base : [this.#tip]), ...heads])]
  }

  /** The last pack is too large for the run. */
  refused(): void {
    this.#written.leaveToGit()
  }

  /**
   * Packs what the service has written: with what is stored these are all objects of the tree. Null: that is
   * too large, because it has versions of files that no longer exist.
   */
  async #write(tree: string, objects: WrittenObject[]): Promise<NewPack | null> {
    const tip = writtenObject('commit', commitBytes(tree, this.#parents([])))
    const content = await writePack([tip, ...objects], 'thin')
    if (content.length > this.#max_bytes) {
      this.#written.leaveToGit()
      return null
    }
    this.#new_tip = tip
    return { tip: tip.sha, base_sha: this.base_sha, content }
  }

  /** `head`: a commit that is not stored yet. */
  async #create(tree: string, head: string | null): Promise<NewPack> {
    const base = this.base_sha === null ? [] : [this.base_sha]
    const tip = this.#tip === null ? [] : [this.#tip]
    const heads = head === null ? [] : [head]
    const parents = this.#parents(heads)
    const chunks: Uint8Array[] = []
    let bytes = 0
    const created = await this.#snapshots.pack(
      { tree, parents, also: heads, without: [...base, ...tip] },
      chunk => {
        bytes += chunk.length
        if (bytes > this.#max_bytes) throw this.#tooLarge()
        chunks.push(chunk)
      },
    )
    const content = Buffer.concat(chunks)
    const objects = [created, tree, ...heads]
    await withObjectCache(this.#git, this.#kept.run_id, () =>
      importPack(this.#git, this.#kept, { pack: content, objects, max_bytes: this.#max_bytes }),
    )
    return { tip: created, base_sha: this.base_sha, content }
  }

  #tooLarge(): TooLarge {
    return new TooLarge(`the changes of a step take more than ${this.#max_bytes} bytes`)
  }

  /** The repository has the tree of its own commit. */
  async #knowBase(): Promise<void> {
    if (this.base_sha === null || this.#known.has(this.base_sha)) return
    this.#known.add(await treeOf(this.#git, this.#kept, this.base_sha)).add(this.base_sha)
  }
}

/** As `pack.sh` writes it. */
function commitBytes(tree: string, parents: string[]): Buffer {
  const who = 'checkpoint <> 1 +0000'
  const lines = [`tree ${tree}`, ...parents.map(sha => `parent ${sha}`), `author ${who}`, `committer ${who}`]
  return Buffer.from(`${lines.join('\n')}\n\ncheckpoint\n`)
}
