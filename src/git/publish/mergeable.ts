import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { mirrorState } from '../mirrors/mirror-refs.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { createFolders, removeTree } from '../process/owner-files.ts'
import { readBranch } from '../read/revisions.ts'
import { mergeTree, readBranches } from './merge.ts'

type Mergeable = 'clean' | 'conflict' | 'unknown'

const MERGE_TIMEOUT_MS = 5_000
/** The result for two commits never changes: the latest pairs, including those being checked. */
const known = new Map<string, Promise<Mergeable>>()
const MAX_KNOWN = 500

/**
 * Returns whether a commit could be merged into a branch, both as in the mirror, in at most 5 s. Stores
 * nothing, fetches nothing, never rejects.
 */
export async function tryMerge(
  host: GitHost,
  repository_id: number,
  base: string,
  head_sha: string,
): Promise<Mergeable> {
  const base_sha = await baseOf(host, repository_id, base)
  if (base_sha === null) return 'unknown'
  const pair = `${base_sha} ${head_sha}`
  const pending = known.get(pair) ?? tryInQuarantine(host, repository_id, base_sha, head_sha)
  remember(pair, pending)
  const state = await pending
  // A missing commit may be fetched later.
  if (state === 'unknown') known.delete(pair)
  return state
}

/** Records that a commit is in the history of another one, so that nothing can conflict. */
export function noteAncestor(ancestor_sha: string, head_sha: string): void {
  remember(`${ancestor_sha} ${head_sha}`, Promise.resolve('clean'))
}

function remember(pair: string, result: Promise<Mergeable>): void {
  known.delete(pair)
  known.set(pair, result)
  for (const oldest of known.keys()) if (known.size > MAX_KNOWN) known.delete(oldest)
}

async function baseOf(host: GitHost, repository_id: number, base: string): Promise<string | null> {
  if ((await mirrorState(host, repository_id)) === null) return null
  const branch = await readBranch(mirrorPath(host, repository_id), `refs/heads/${base}`)
  if (branch !== null) return branch.sha
  return readBranches(host, repository_id, { base, head: base }).then(
    found => found.base_sha,
    () => null,
  )
}

/** Tries the merge in a temporary object folder. */
async function tryInQuarantine(
  host: GitHost,
  repository_id: number,
  base_sha: string,
  head_sha: string,
): Promise<Mergeable> {
  const git_dir = mirrorPath(host, repository_id)
  const temporary = join(git_dir, `incoming-${randomUUID()}`)
  const env = { GIT_OBJECT_DIRECTORY: temporary, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(git_dir, 'objects') }
  try {
    await createFolders(host, temporary)
    const tried = await mergeTree(host, { git_dir, env, timeout_ms: MERGE_TIMEOUT_MS }, base_sha, head_sha)
    return tried?.files === null ? 'clean' : 'conflict'
  } catch {
    return 'unknown'
  } finally {
    await removeTree(host, temporary)
  }
}
