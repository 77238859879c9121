import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { mirrorState } from '../mirrors/mirror-refs.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { makeFolders, removeTree } from '../process/owner-files.ts'
import { mergeTree, readBranches } from './merge.ts'

export type Mergeable = 'clean' | 'conflict' | 'unknown'

const LOOK_MS = 5_000
/** Two commits merge today as they did yesterday: the last pairs that were asked for, those that are being looked at among them. */
const known = new Map<string, Promise<Mergeable>>()
const MOST_KNOWN = 500

/** Whether a commit could be merged into a branch as the mirror knows both, in 5 s at most. Keeps nothing, fetches nothing, never rejects. */
export async function tryMerge(host: GitHost, repository_id: number, base: string, head_sha: string): Promise<Mergeable> {
  const base_sha = await baseOf(host, repository_id, base)
  if (base_sha === null) return 'unknown'
  const pair = `${base_sha} ${head_sha}`
  const looked = known.get(pair) ?? lookAside(host, repository_id, base_sha, head_sha)
  known.delete(pair)
  known.set(pair, looked)
  for (const oldest of known.keys()) if (known.size > MOST_KNOWN) known.delete(oldest)
  const answer = await looked
  // A commit that is missing now may be fetched later.
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

/** What a merge writes goes into a folder of its own, and away. */
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
