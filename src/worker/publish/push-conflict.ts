import { GitError } from '../../git/process/git-error.ts'
import { fetchBranches, isAncestor } from '../../git/publish/merge.ts'
import { objectsOfRun } from '../base/base.ts'
import type { CommittedPublication } from './publication.ts'

/**
 * The branch on the remote is at `sha`, which the head does not contain. `ahead`: an earlier worker of this
 * run pushed it. `joined`: somebody else pushed it on top of what the run had pushed. `taken`: it is unknown
 * here, or somebody force-pushed it over what the run had pushed.
 */
export type PushConflict = { kind: 'taken' | 'ahead' | 'joined'; sha: string } | { kind: 'blocked' }
export const conflict_kinds: ReadonlySet<string> = new Set<PushConflict['kind']>([
  'taken',
  'ahead',
  'joined',
  'blocked',
])

/** `announced`: all commits that workers of this run intended to push to the branch. */
type KnownCommits = { pushed_sha: string | null; announced: ReadonlySet<string> }

/**
 * Returns what prevents the push. `none`: nothing does by now, another push is in progress, or the remote
 * does not respond.
 */
export async function findConflict(
  committed: CommittedPublication,
  { pushed_sha, announced }: KnownCommits,
): Promise<PushConflict | 'none'> {
  const { deps, run, base, head, control } = committed
  const objects = objectsOfRun(run, base)
  const isIn = (sha: string, descendant: string) => isAncestor(deps.git, objects, sha, descendant)
  try {
    const branches = { base: base.branch, head: base.branch }
    const { head_sha } = await fetchBranches(
      deps.git,
      base.repository,
      branches,
      deps.git_limits.fetch_ms,
      control.signal,
    )
    if (head_sha === null || (await isIn(head_sha, head))) return 'none'
    // The branch contains the head already, and more.
    if (await isIn(head, head_sha)) return { kind: 'joined', sha: head_sha }
    if (announced.has(head_sha)) return { kind: 'ahead', sha: head_sha }
    return {
      kind: pushed_sha !== null && (await isIn(pushed_sha, head_sha)) ? 'joined' : 'taken',
      sha: head_sha,
    }
  } catch (error) {
    if (error instanceof GitError) return 'none'
    throw error
  }
}
