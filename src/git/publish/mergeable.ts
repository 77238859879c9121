import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { mirrorState } from '../mirrors/mirror-refs.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { makeFolders, removeTree } from '../process/owner-files.ts'
import { mergeTree, readBranches } from './merge.ts'

export type Mergeable = 'clean' | 'conflict' | 'unknown'

const LOOK_MS = 5_000
/** The result for two commits never changes: the latest pairs, including those being checked. */
const known = new Map<string, Promise<Mergeable>>()
const MOST_KNOWN = 500

/**
 * Returns whether a commit could be merged into a branch, both as in the mirror, in at most 5 s. Stores nothing, fetches nothing, never
 * rejects.
 */
export async function tryMerge(host: GitHost, repository_id: number, base: string, head_sha: string): Promise<Mergeable> {
  const base_sha = await baseOf(host, repository_id, base)
  if (base_sha === null) return 'unknown'
  const pair = `${base_sha} ${head_sha}`
  const looked = known.get(pair) ?? lookAside(host, repository_id, base_sha, head_sha)
  known.delete(pair)
  known.set(pair, looked)
  for (const oldest of known.keys()) if (known.size > MOST_KNOWN) known.delete(oldest)
  const answer = await looked
  // A missing commit may be fetched later.
  if (answer === 'unknown') known.delete(pair)
  return answer
}

async function baseOf(host: GitHost, repository_id: number, base: string): Promise<string | null> {
  if ((await mirrorState(host, repository_id)) === null) return null
  return readBranches(host, repository_id, { base, head: base }).then(
    found => found.base_sha,
    () => null,
  )
}

/** Tries the merge in a temporary object folder. */
async function lookAside(host: GitHost, repository_id: number, base_sha: string, head_sha: string): Promise<Mergeable> {
  const git_dir = mirrorPath(host, repository_id)
  const aside = join(git_dir, `incoming-${randomUUID()}`)
  const env = { GIT_OBJECT_DIRECTORY: aside, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(git_dir, 'objects') }
  try {
    await makeFolders(host, aside)
    const tried = await mergeTree(host, { git_dir, env, timeout_ms: LOOK_MS }, base_sha, head_sha)
    return tried?.files === null ? 'clean' : 'conflict'
  } catch {
    return 'unknown'
  } finally {
    await removeTree(host, aside)
  }
}
