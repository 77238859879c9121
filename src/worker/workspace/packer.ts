import {
  type CacheOwner,
  importPack,
  markKept,
  treeOf,
  withObjectCache,
} from '../../git/objects/object-cache.ts'
import { NO_FILES } from '../../git/objects/object-checks.ts'
import { GitError } from '../../git/process/git-error.ts'
import type { GitHost } from '../../git/process/git-host.ts'
import type { Snapshot } from '../../git/workspace/checkpoint-commands.ts'
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
  snapshots: Snapshots
  max_bytes: number
  base_sha: string | null
  tip: string | null
  known: string[]
}

/** Packs the objects of snapshots that are not stored yet. The host checks every object. */
export class Packer {
  readonly base_sha: string | null
  readonly #git: GitHost
  readonly #kept: CacheOwner
  readonly #snapshots: Snapshots
  readonly #max_bytes: number
  readonly #known = new Set<string>([NO_FILES])
  #tip: string | null

  constructor({ git, kept, snapshots, max_bytes, base_sha, tip, known }: PackerInput) {
    this.#git = git
    this.#kept = kept
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
    if (this.#known.has(tree) && new_head === null) return null
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
  async stored(pack: NewPack | null, packs: number, { tree, head }: Snapshot): Promise<void> {
    for (const sha of [tree, head]) if (sha !== null) this.#known.add(sha)
    if (pack === null) return
    this.#tip = pack.tip
    await withObjectCache(this.#git, this.#kept.run_id, () => markKept(this.#git, this.#kept.run_id, packs))
  }

  /** `head`: a commit that is not stored yet. */
  async #create(tree: string, head: string | null): Promise<NewPack> {
    const base = this.base_sha === null ? [] : [this.base_sha]
    const tip = this.#tip === null ? [] : [this.#tip]
    const heads = head === null ? [] : [head]
    const parents = [...new Set([...(tip.length > 0 ? tip : base), ...heads])]
    const chunks: Uint8Array[] = []
    let bytes = 0
    const created = await this.#snapshots.pack(
      { tree, parents, also: heads, without: [...base, ...tip] },
      chunk => {
        bytes += chunk.length
        if (bytes > this.#max_bytes)
          throw new TooLarge(`the changes of a step take more than ${this.#max_bytes} bytes`)
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

  /** The repository has the tree of its own commit. */
  async #knowBase(): Promise<void> {
    if (this.base_sha === null || this.#known.has(this.base_sha)) return
    this.#known.add(await treeOf(this.#git, this.#kept, this.base_sha)).add(this.base_sha)
  }
}
