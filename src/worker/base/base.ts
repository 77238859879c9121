import type { RunObjects } from '../../git/objects/objects.ts'
import { GitError } from '../../git/process/git-error.ts'
import { isAncestor } from '../../git/publish/merge.ts'
import { blockingBranch, hasCommit, resolveRef } from '../../git/read/revisions.ts'
import { branchName, flatBranch } from '../../git/refs/branch-name.ts'
import { getRepository, type RepositoryRow, setDefaultBranch } from '../../store/access/repositories.ts'
import { listPullRequests } from '../../store/pull-requests/pull-requests.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { recordCheckout } from '../../store/workspaces/workspaces.ts'
import { requireOwned } from '../claim/fenced-error.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerServices } from '../services.ts'
import { refreshIfOld, resolveFresh } from './fresh-mirror.ts'
import { syncWithForge } from './propose-on-forge.ts'
import { StartError } from './start-error.ts'

type Deps = Pick<WorkerServices, 'db' | 'git' | 'git_limits' | 'forges' | 'push_retry_ms' | 'log'>

/**
 * What the turn builds on. `renewed`: the pull request of the previous branch was closed or merged, so
 * `branch` is a new one that is not recorded yet; a workspace without uncommitted changes continues from
 * `start_sha`.
 */
export type Base = {
  repository: RepositoryRow
  ref: string
  sha: string
  branch: string
  renewed: { start_sha: string } | null
}

/**
 * Returns the objects of the base's repository together with those that the run has committed and not pushed.
 */
export const objectsOfRun = (run: { id: number }, { repository }: Base): RunObjects => ({
  repository_id: repository.id,
  run_id: run.id,
})

/**
 * Refreshes the mirror if it is not new, and settles commit and branch of the run's first turn. Null: the run
 * has no repository. A remote that is unavailable does not matter while the mirror has what the run needs;
 * otherwise throws StartError.
 */
export async function prepareBase(
  deps: Deps,
  writer: RunWriter,
  run: RunRow,
  signal: AbortSignal,
): Promise<Base | null> {
  if (run.repository_id === null) return null
  const repository = await getRepository(deps.db, run.organization_id, run.repository_id)
  if (!repository)
    throw new StartError(
      'setup_failed',
      'repository_removed',
      'The repository of this run is no longer registered.',
    )
  const known = await knownBase(deps, run, repository)
  if (known === null) return firstBase(deps, writer, run, repository, signal)
  if (run.branch === null)
    requireOwned(await recordCheckout(deps.db, run.organization_id, run.id, writer.epoch, known))
  // Another worker may have started the run: this machine's mirror may not have the commit yet.
  if (!(await hasCommit(deps.git, repository.id, known.base_sha).catch(() => false)))
    await requireCommit(deps, writer, repository, known.base_sha, signal)
  const base = { repository, ref: known.base_ref, sha: known.base_sha, branch: known.branch, renewed: null }
  return renewBase(deps, run, base, signal)
}

async function firstBase(
  deps: Deps,
  writer: RunWriter,
  run: RunRow,
  repository: RepositoryRow,
  signal: AbortSignal,
): Promise<Base> {
  const named = run.from_default_branch ? null : run.base_ref
  const wanted = { repository, ref: named, requested_at: byOurClock(run, run.created_at), signal }
  const { found, unreachable } = await resolveFresh(deps, writer, wanted)
  if (found === null) {
    if (unreachable) throw notFetched(unreachable)
    throw new StartError('setup_failed', 'unknown_base_ref', await noSuchBase(deps, run, repository, named))
  }
  if ('empty' in found)
    throw new StartError(
      'setup_failed',
      'empty_repository',
      `${repository.full_name} has no commit yet: push a first one, then run again.`,
    )
  const branch = await nextBranch(deps, run, repository.id, { earlier: run.abandoned_branches })
  const checkout = { base_ref: found.ref, base_sha: found.sha, branch }
  requireOwned(await recordCheckout(deps.db, run.organization_id, run.id, writer.epoch, checkout))
  if (named === null) await setDefaultBranch(deps.db, run.organization_id, repository.id, found.ref)
  return { repository, ref: found.ref, sha: found.sha, branch, renewed: null }
}

/** States what has become of a base that existed when the run was created. */
async function noSuchBase(
  deps: Pick<WorkerServices, 'git' | 'git_limits'>,
  run: RunRow,
  repository: RepositoryRow,
  named: string | null,
): Promise<string> {
  const { full_name } = repository
  if (named === null)
    return `${full_name} has no branch that can be recognized as its default branch: name one as the base of the run.`
  const gone = `${JSON.stringify(named)}, from which this run should start, is not in ${full_name}`
  const tip = await resolveRef(deps.git, repository.id, null)
  const now = tip !== null && 'ref' in tip ? ` The default branch is ${JSON.stringify(tip.ref)}.` : ''
  const cause =
    run.base_sha === null
      ? 'there is no such branch, tag or commit'
      : 'it was renamed or deleted since the run was created'
  return `${gone}: ${cause}.${now}`
}

async function requireCommit(
  deps: Deps,
  writer: RunWriter,
  repository: RepositoryRow,
  sha: string,
  signal: AbortSignal,
): Promise<void> {
  const { found, unreachable } = await resolveFresh(deps, writer, {
    repository,
    ref: sha,
    requested_at: Date.now(),
    signal,
  })
  if (found !== null && !('empty' in found)) return
  if (unreachable) throw notFetched(unreachable)
  const message = `${repository.full_name} no longer has commit ${sha}, which this run started from.`
  throw new StartError('git_unavailable', 'base_commit_gone', message)
}

function notFetched(error: GitError): Error {
  const { code, message } = error
  return code === 'killed'
    ? error
    : new StartError('git_unavailable', code === 'timeout' ? 'fetch_timeout' : code, message)
}

/**
 * Returns what an earlier turn, or the run that was forked, settled. A run that abandoned its branch keeps
 * its base and gets a new branch name.
 */
async function knownBase(
  deps: Pick<WorkerServices, 'git' | 'git_limits'>,
  run: RunRow,
  repository: RepositoryRow,
) {
  const { branch, abandoned_branches, base_ref, base_sha, forked_at_seq } = run
  if (
    base_ref === null ||
    base_sha === null ||
    (branch === null && abandoned_branches === 0 && forked_at_seq === null)
  )
    return null
  return {
    base_ref,
    base_sha,
    branch: branch ?? (await nextBranch(deps, run, repository.id, { earlier: abandoned_branches })),
  }
}

/**
 * Returns the same base unless the pull request of its branch was closed or merged. Then the base has a new
 * branch (specification.md#create-and-resume), and after a merge also the current tip, if that contains
 * everything the run committed. Records nothing.
 */
export async function renewBase(deps: Deps, run: RunRow, base: Base, signal: AbortSignal): Promise<Base> {
  await syncWithForge(deps, run, base.repository)
  const proposed = await listPullRequests(deps.db, run.organization_id, [run.id])
  const pr = proposed.find(item => item.head_branch === base.branch)
  if (!pr || pr.state === 'open' || pr.state === 'draft') return base
  const taken = new Set(proposed.map(item => item.head_branch))
  const branch = await nextBranch(deps, run, base.repository.id, {
    taken,
    earlier: run.abandoned_branches + 1,
  })
  const kept = { ...base, branch, renewed: { start_sha: run.head_sha ?? pr.head_sha } }
  if (pr.merge_sha === null || pr.merged_at === null) return kept
  const requested_at = Math.max(pr.merged_at.getTime(), run.turn_started_at.getTime())
  await refreshIfOld(deps, base.repository, byOurClock(run, new Date(requested_at)), signal)
  const contains = (sha: string, ancestor: string) => isAncestor(deps.git, base.repository.id, ancestor, sha)
  try {
    const tip = await resolveRef(deps.git, base.repository.id, base.ref)
    if (tip === null || 'empty' in tip || !(await contains(tip.sha, pr.merge_sha))) return kept
    const { start_sha } = kept.renewed
    const covered = start_sha === pr.head_sha || (await contains(pr.head_sha, start_sha))
    return { ...kept, sha: tip.sha, renewed: { start_sha: covered ? tip.sha : start_sha } }
  } catch (error) {
    if (error instanceof GitError) return kept
    throw error
  }
}

/**
 * Returns the next name for the branch of a run that is not taken, without folders where a branch has the
 * name of one. A title may have changed, so the next number alone may lead to a taken name.
 */
export async function nextBranch(
  deps: Pick<WorkerServices, 'git' | 'git_limits'>,
  { id, title, branch_prefix: prefix }: RunRow,
  repository_id: number,
  { earlier, taken = new Set() }: { earlier: number; taken?: ReadonlySet<string> },
): Promise<string> {
  const blocked = (await blockingBranch(deps.git, repository_id, branchName({ id, title, prefix }))) !== null
  for (; ; earlier++) {
    const name = branchName({ id, title, prefix, earlier })
    const free = blocked ? flatBranch(name) : name
    if (!taken.has(free)) return free
  }
}

/**
 * Converts a time of the database to the clock of this machine, which stamps the mirrors: the claim set
 * `updated_at` just now.
 */
const byOurClock = (run: RunRow, moment: Date): number =>
  Date.now() - (run.updated_at.getTime() - moment.getTime())
