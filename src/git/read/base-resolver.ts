import type { GitRepository } from '../git-repository.ts'
import { mirrorState } from '../mirrors/mirror-refs.ts'
import { refreshMirrorNow } from '../mirrors/mirrors.ts'
import { GitError } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { resolveRef } from './revisions.ts'

const FIRST_FETCH_MS = 2_000

type KnownBase =
  | { state: 'known'; ref: string; sha: string }
  | { state: 'unknown_ref' }
  | { state: 'empty' }
  | { state: 'no_mirror' }

/**
 * Returns the commit that a run would start from, from the local mirror alone; a missing mirror is fetched
 * for at most `wait_ms`, by default 2 s, and the fetch continues in the background
 * (specification.md#create-and-resume). Never rejects because of the remote.
 */
export async function resolveBase(
  host: GitHost,
  repository: GitRepository,
  base_ref: string | null,
  wait_ms = FIRST_FETCH_MS,
): Promise<KnownBase> {
  if ((await mirrorState(host, repository.id)) === null && !(await fetchNow(host, repository, wait_ms)))
    return { state: 'no_mirror' }
  const found = await resolveRef(host, repository.id, base_ref)
  if (found !== null)
    return 'empty' in found ? { state: 'empty' } : { state: 'known', ref: found.ref, sha: found.sha }
  // The branch may be newer than the mirror: fetch once before it counts as unknown.
  if (!(await fetchNow(host, repository, wait_ms))) return { state: 'no_mirror' }
  const again = await resolveRef(host, repository.id, base_ref)
  if (again === null) return { state: 'unknown_ref' }
  return 'empty' in again ? { state: 'empty' } : { state: 'known', ref: again.ref, sha: again.sha }
}

async function fetchNow(host: GitHost, repository: GitRepository, wait_ms: number): Promise<boolean> {
  try {
    await refreshMirrorNow(host, repository, { wait_ms })
    return true
  } catch (error) {
    if (error instanceof GitError) return false
    throw error
  }
}
