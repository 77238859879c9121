import { isRefName } from '../../contract/organizations/ref-name.ts'
import type { GitRepository } from '../git-repository.ts'
import { readMirror } from '../mirrors/mirror-refs.ts'
import { refreshMirrorNow } from '../mirrors/mirrors.ts'
import { commitTree, treeOf } from '../objects/commit-tree.ts'
import { type Objects, objectsOf } from '../objects/objects.ts'
import { gitErrorFrom } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { type GitCall, runGit } from '../process/run-git.ts'
import { shownPath } from '../process/shown-text.ts'
import { fields } from '../read/changes.ts'
import { asSha } from '../refs/ref-name.ts'

/** Two branches of a repository; null: the branch does not exist. */
export type Branches = { base_sha: string | null; head_sha: string | null }

/**
 * `conflict`: paths that both sides changed, as in `ChangedFile`. `refused`: git cannot merge these commits,
 * with its message. `nothing`: the base has all of it.
 */
export type MergeResult =
  | { kind: 'made'; sha: string }
  | { kind: 'conflict'; files: string[] }
  | { kind: 'refused'; message: string }
  | { kind: 'nothing' }

export type MergeInput = {
  base_sha: string
  head_sha: string
  /**
   * `merge`: a commit with both as parents, even when a fast-forward is possible. `squash`: one commit on the
   * base.
   */
  method: 'merge' | 'squash'
  message: string
  author: { name: string; email: string }
}

const MERGE_MS = 60_000

/**
 * Reads where two branches are, with a new request to the remote, and fetches both into the mirror. GitError,
 * `timeout` after `wait_ms`.
 */
export async function fetchBranches(
  host: GitHost,
  repo: GitRepository,
  branches: { base: string; head: string },
  wait_ms: number,
  signal?: AbortSignal,
): Promise<Branches> {
  const options = { wait_ms, ...(signal && { signal }) }
  await refreshMirrorNow(host, repo, options)
  return readBranches(host, repo.id, branches)
}

/** Returns the same from the mirror alone, without a request to the remote. */
export async function readBranches(
  host: GitHost,
  repository_id: number,
  { base, head }: { base: string; head: string },
): Promise<Branches> {
  const requested = [base, head].map(name => (isRefName(name) ? `refs/heads/${name}` : '0'.repeat(40)))
  const shas = await readMirror(host, repository_id, 'the branches cannot be read', {
    args: ['cat-file', '--batch-check=%(objectname)'],
    stdin: requested.map(name => `${name}^{commit}\n`).join(''),
  })
  const [base_sha = null, head_sha = null] = shas
    .toString()
    .split('\n')
    .map(line => (/^[0-9a-f]{40}$/.test(line) ? line : null))
  return { base_sha, head_sha }
}

/** Returns whether `ancestor` is `commit` or one of its ancestors. A missing commit is never an ancestor. */
export async function isAncestor(
  host: GitHost,
  objects: Objects,
  ancestor: string,
  commit: string,
): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', asSha(ancestor), asSha(commit)]
  const { exit_code, stderr } = await runGit(host, { ...objectsOf(host, objects), args })
  if (exit_code === 0 || exit_code === 1 || /Not a valid commit name/.test(stderr)) return exit_code === 0
  throw gitErrorFrom(stderr, 'the history cannot be read')
}

/**
 * Returns the commit by which all of `head_shas` entered the history of `base_sha`: one of `attempts`,
 * commits that may have been pushed for it, or a manual merge (the last head itself after a fast-forward).
 * Null: they are not all included. GitError.
 */
export async function findMerge(
  host: GitHost,
  repository_id: number,
  input: { base_sha: string; head_shas: string[]; attempts: string[] },
): Promise<string | null> {
  const { base_sha, head_shas, attempts } = input
  for (const sha of attempts) if (await isAncestor(host, repository_id, sha, base_sha)) return sha
  for (const sha of head_shas) if (!(await isAncestor(host, repository_id, sha, base_sha))) return null
  const head_sha = head_shas.at(-1)
  if (head_sha === undefined) return null
  const listed = await readMirror(host, repository_id, 'the history cannot be read', {
    args: [
      'log',
      '--format=%H %P',
      '--ancestry-path',
      '--topo-order',
      '--reverse',
      `${head_sha}..${base_sha}`,
      '--',
    ],
    max_output_bytes: 4_096,
    on_overflow: 'cut',
  })
  const [oldest = '', first_parent = ''] = (listed.toString().split('\n')[0] ?? '').split(' ')
  return oldest === '' || first_parent === head_sha ? head_sha : oldest
}

/**
 * Merges two commits into a new commit, of the mirror or of the run, that no ref names yet. No work tree, no
 * hook. GitError.
 */
export async function createMerge(host: GitHost, objects: Objects, input: MergeInput): Promise<MergeResult> {
  const { base_sha, head_sha, method, author } = input
  if (await isAncestor(host, objects, head_sha, base_sha)) return { kind: 'nothing' }
  const tried = await mergeTree(
    host,
    { ...objectsOf(host, objects), timeout_ms: MERGE_MS },
    base_sha,
    head_sha,
  )
  if (tried === null) return { kind: 'refused', message: 'the two branches have no commit in common' }
  const { tree, files } = tried
  if (files !== null) return { kind: 'conflict', files }
  if (method === 'squash' && tree === (await treeOf(host, objects, base_sha))) return { kind: 'nothing' }
  const parents = method === 'squash' ? [base_sha] : [base_sha, head_sha]
  const sha = await commitTree(host, objects, { tree, parents, message: input.message, author })
  return { kind: 'made', sha }
}

/**
 * Returns the merged tree, and the conflicting files, null when there is none; null for unrelated histories.
 * GitError.
 */
export async function mergeTree(
  host: GitHost,
  call: Omit<GitCall, 'args'>,
  base_sha: string,
  head_sha: string,
): Promise<{ tree: string; files: string[] | null } | null> {
  const options = ['--write-tree', '-z', '--name-only', '--no-messages']
  const { exit_code, stdout, stderr } = await runGit(host, {
    ...call,
    args: ['merge-tree', ...options, asSha(base_sha), asSha(head_sha)],
  })
  const [tree, ...files] = fields(stdout)
  // Exit code 1 means a conflict, or a commit that git does not find: then there is no tree.
  if (tree !== undefined && exit_code === 0) return { tree: tree.toString('latin1'), files: null }
  if (tree !== undefined && exit_code === 1)
    return { tree: tree.toString('latin1'), files: files.map(shownPath) }
  if (/unrelated histories/.test(stderr)) return null
  throw gitErrorFrom(stderr, 'the branches cannot be merged')
}
