import { GitError } from '../process/git-error.ts'
import type { GitHost, TreeShape } from '../process/git-host.ts'
import type { GitCall } from '../process/run-git.ts'
import { type ObjectReader, withObjectReader } from './object-reader.ts'
import { listPacked } from './packed-names.ts'
import type { Quarantine } from './quarantine.ts'
import { TreeShapes } from './tree-shapes.ts'

/** More than any known repository has. */
const MAX_OBJECTS = 25_000_000
/** For one commit or tag, with its message and headers. */
const MAX_COMMIT_BYTES = 1024 ** 2
/** For one tree: more than 300,000 entries. */
const MAX_TREE_BYTES = 16 * 1024 ** 2
const MAX_PARENTS = 128
/** A commit with fewer bytes has fewer parents. */
const PARENTS_BYTES = MAX_PARENTS * 48
/** Bytes, the limit of Linux. */
const MAX_PATH_BYTES = 4_095
/** Bytes of all new trees together; they are read in parts, and one part is what a check keeps in memory. */
const MAX_TREES_BYTES = 256 * 1024 ** 2
const PART_BYTES = 32 * 1024 ** 2
const MAX_TREES = 1_000_000
/** How many shapes a process caches. */
const MAX_KNOWN = 100_000

/**
 * Rejects quarantined objects that are small but expand to more than can be checked out, or than git on the
 * host can examine: number and length of paths, sizes of files, commits and trees, parents, objects. Nothing
 * is walked: each tree is read once, by `reader`. `tips`: new commits or tags, whose files are counted
 * including those that the repository has. Returns the types of new tips. GitError `too_large`, `corrupt`,
 * `timeout`.
 */
export async function checkBounds(
  host: GitHost,
  { call }: Quarantine,
  reader: ObjectReader,
  tips: string[],
): Promise<ReadonlyMap<string, string>> {
  forgetShapes(host)
  const found = await listNew(host, reader, call.env.GIT_OBJECT_DIRECTORY, tips)
  const last = [...(found.parts.pop() ?? []), ...found.large_commits, ...tips.map(sha => `${sha}^{tree}`)]
  for (const names of [...found.parts, last])
    for (const problem of (await readTrees(host, reader, names)).values())
      throw new GitError('too_large', problem)
  return found.types
}

/**
 * Checks the same for a tree, or the tree of a commit: nothing else of the quarantine is read. GitError
 * `corrupt` when one of them is missing.
 */
export async function checkTrees(host: GitHost, call: Omit<GitCall, 'args'>, names: string[]): Promise<void> {
  forgetShapes(host)
  const missing: string[] = []
  const problems = await withObjectReader(host, call, reader => readTrees(host, reader, names, missing))
  for (const problem of problems.values()) throw new GitError('too_large', problem)
  if (missing.length > 0)
    throw new GitError('corrupt', `${missing.length} of the objects that should be there are missing`)
}

/**
 * Returns why trees are rejected, by tree. Trees that earlier checks have read are not read again. GitError
 * `corrupt`, `too_large`.
 */
export async function treeProblems(
  host: GitHost,
  call: Omit<GitCall, 'args'>,
  trees: string[],
): Promise<Map<string, string>> {
  const unread = trees.filter(tree => !host.tree_shapes.has(tree))
  const problems = trees.flatMap(tree => {
    const shape = host.tree_shapes.get(tree)
    const problem = shape ? problemOf(tree, shape, host.max_paths) : null
    return problem === null ? [] : [[tree, problem] as const]
  })
  forgetShapes(host)
  const read = await withObjectReader(host, call, reader => readTrees(host, reader, unread))
  return new Map([...problems, ...read])
}

/** The cache is cleared between two checks only, so that no tree is read twice within one. */
function forgetShapes(host: GitHost): void {
  if (host.tree_shapes.size > MAX_KNOWN) host.tree_shapes.clear()
}

/**
 * Returns the problems of `names`, which are trees or lead to one, and of all subtrees that no earlier check
 * has read. Adds to `missing` what does not exist.
 */
async function readTrees(
  host: GitHost,
  reader: ObjectReader,
  names: string[],
  missing: string[] = [],
): Promise<Map<string, string>> {
  const trees = new TreeShapes(host.tree_shapes, host.max_paths)
  const seen = new Set<string>()
  await reader.read(names, async (sha, type, bytes) => {
    if (type === 'missing' && names.includes(sha)) missing.push(sha)
    if (type === 'tree') seen.add(sha)
    if (type === 'tree') return await trees.add(sha, bytes)
    if (type === 'commit') checkParents(sha, bytes)
    return []
  })
  const shapes = await trees.settle()
  const problems = new Map<string, string>()
  for (const [sha, shape] of shapes) {
    host.tree_shapes.set(sha, shape)
    const problem = seen.has(sha) ? problemOf(sha, shape, host.max_paths) : null
    if (problem !== null) problems.set(sha, problem)
  }
  return problems
}

function problemOf(tree: string, { paths, longest }: TreeShape, max_paths: number): string | null {
  if (paths > max_paths)
    return `the tree ${tree} expands to more than ${max_paths} files (AGENTRUN_GIT_MAX_PATHS)`
  if (longest > MAX_PATH_BYTES) return `the tree ${tree} has a path of more than ${MAX_PATH_BYTES} bytes`
  return null
}

function checkParents(sha: string, bytes: Buffer): void {
  const header = bytes.subarray(0, Math.max(0, bytes.indexOf('\n\n'))).toString('latin1')
  if (header.split('\nparent ').length - 1 > MAX_PARENTS)
    throw new GitError('too_large', `the commit ${sha} has more than ${MAX_PARENTS} parents`)
}

/** `parts`: the trees in groups that are read together; `types`: of the tips, if they are new. */
type ListedObjects = { parts: string[][]; large_commits: string[]; types: Map<string, string> }

/** Lists every quarantined object with its kind and size; `types`: of `tips`. */
async function listNew(
  host: GitHost,
  reader: ObjectReader,
  quarantined: string,
  tips: readonly string[],
): Promise<ListedObjects> {
  const found: ListedObjects = { parts: [], large_commits: [], types: new Map() }
  const max_bytes_of: Record<string, number> = {
    blob: host.max_mirror_bytes,
    tree: MAX_TREE_BYTES,
    commit: MAX_COMMIT_BYTES,
    tag: MAX_COMMIT_BYTES,
  }
  let [trees, tree_bytes] = [0, 0]
  for await (const names of listPacked(quarantined, MAX_OBJECTS))
    await reader.describe(names, ({ name: sha, type, bytes }) => {
      if (tips.includes(sha)) found.types.set(sha, type)
      const max_bytes = max_bytes_of[type]
      if (max_bytes === undefined) throw new GitError('corrupt', `the new object ${sha} is ${type}`)
      if (bytes > max_bytes)
        throw new GitError(
          'too_large',
          `the ${type} ${sha} has ${bytes} bytes, more than the ${max_bytes} allowed`,
        )
      if (type === 'tree') {
        tree_bytes += bytes
        if (++trees > MAX_TREES || tree_bytes > MAX_TREES_BYTES)
          throw new GitError(
            'too_large',
            `there are more than ${MAX_TREES} new trees, or ${MAX_TREES_BYTES} bytes of them: bring fewer commits at a time`,
          )
        if (found.parts.length <= tree_bytes / PART_BYTES) found.parts.push([])
        found.parts.at(-1)?.push(sha)
      } else if (type === 'commit' && bytes > PARENTS_BYTES) found.large_commits.push(sha)
    })
  return found
}
