import { GitError } from './git-error.ts'

/** `paths`: how many files a checkout of the tree has, links and submodules too. `longest`: bytes of its longest path. */
export type TreeShape = { paths: number; longest: number }

type Folder = { name_bytes: number; sha: string }
type Tree = { files: number; longest_file: number; folders: Folder[] }

/** A folder that is named more often than this within the trees of one check is refused: what is kept of it takes memory. */
const MAX_FOLDERS = 2_000_000
const SHA_BYTES = 20

/**
 * Counts the paths that trees stand for without walking them: each distinct tree is read once and its count is the sum over its entries, so
 * that ten objects that name 10¹⁰ paths cost ten steps. `known` holds shapes of earlier checks; objects never change, so they stay true.
 */
export class TreeShapes {
  readonly #known: Map<string, TreeShape>
  readonly #trees = new Map<string, Tree>()
  #folders = 0

  constructor(known: Map<string, TreeShape>) {
    this.#known = known
  }

  /** How many distinct trees were read. */
  get read(): number {
    return this.#trees.size
  }

  /** Takes the bytes of a tree, and returns the folders in it that have to be read too. GitError `corrupt`, `too_large`. */
  add(sha: string, bytes: Buffer): string[] {
    if (this.#known.has(sha) || this.#trees.has(sha)) return []
    const tree: Tree = { files: 0, longest_file: 0, folders: [] }
    for (let at = 0; at < bytes.length; ) {
      const space = bytes.indexOf(32, at)
      const end = bytes.indexOf(0, space)
      if (space < 0 || end < 0 || end + SHA_BYTES >= bytes.length) throw new GitError('corrupt', `the tree ${sha} cannot be read`)
      const name_bytes = end - space - 1
      const next = end + 1 + SHA_BYTES
      if (bytes[at] === 52 && space === at + 5) tree.folders.push({ name_bytes, sha: bytes.toString('hex', end + 1, next) })
      else {
        tree.files++
        tree.longest_file = Math.max(tree.longest_file, name_bytes)
      }
      at = next
    }
    this.#folders += tree.folders.length
    if (this.#folders > MAX_FOLDERS) throw new GitError('too_large', `the trees name more than ${MAX_FOLDERS} folders`)
    this.#trees.set(sha, tree)
    return tree.folders.map(folder => folder.sha)
  }

  /** Adds the shapes of all trees that were read to `known`. A folder that is not in the repository counts as empty. */
  settle(): void {
    for (const top of this.#trees.keys()) {
      const open = [top]
      for (let sha = open.at(-1); sha !== undefined; sha = open.at(-1)) {
        const tree = this.#known.has(sha) ? undefined : this.#trees.get(sha)
        const waiting = tree?.folders.filter(folder => !this.#known.has(folder.sha) && this.#trees.has(folder.sha)) ?? []
        open.push(...new Set(waiting.map(folder => folder.sha)))
        if (waiting.length > 0) continue
        open.pop()
        if (tree !== undefined) this.#known.set(sha, this.#shapeOf(tree))
      }
    }
  }

  #shapeOf({ files, longest_file, folders }: Tree): TreeShape {
    let [paths, longest] = [files, longest_file]
    for (const { name_bytes, sha } of folders) {
      const below = this.#known.get(sha) ?? { paths: 0, longest: 0 }
      paths += below.paths
      longest = Math.max(longest, name_bytes + 1 + below.longest)
    }
    return { paths, longest }
  }
}
