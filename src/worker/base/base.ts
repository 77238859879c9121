import { setTimeout as delay } from 'node:timers/promises'
import { exponential, retryDelay } from '../../core/retry-policy.ts'
import { mirrorState } from '../../git/mirrors/mirror-refs.ts'
import { refreshMirror } from '../../git/mirrors/mirrors.ts'
import type { RunObjects } from '../../git/objects/objects.ts'
import { GitError } from '../../git/process/git-error.ts'
import { isAncestor } from '../../git/publish/merge.ts'
import { resolveRef } from '../../git/read/revisions.ts'
import { branchName } from '../../git/refs/branch-name.ts'
import { getRepository, type RepositoryRow, setDefaultBranch } from '../../store/access/repositories.ts'
import { listPullRequests } from '../../store/pull-requests/pull-requests.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { recordCheckout } from '../../store/workspaces/workspaces.ts'
import { errorEntry } from '../../trace/entry.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import { syncWithForge } from './propose-on-forge.ts'

/**
 * What the turn builds on. `renewed`: the pull request of the branch before was closed or merged, so `branch` is a new one that nobody has
 * written yet; a workspace with nothing uncommitted goes on from `start_sha`.
 */
export type Base = { repository: RepositoryRow; ref: string; sha: string; branch: string; renewed: { start_sha: string } | null }

/** The objects of the base's repository together with those that the run has committed and not pushed. */
export const objectsOfRun = (run: { id: number }, { repository }: Base): RunObjects => ({ repository_id: repository.id, run_id: run.id })

/** The run cannot start, and why: a status reason with words for a person. */
export class StartError extends Error {
  override name = 'StartError'
  readonly reason: 'git_unavailable' | 'setup_failed'
  readonly code: string
  readonly phase: 'clone' | 'setup'
  constructor(reason: 'git_unavailable' | 'setup_failed', code: string, message: string, phase: 'clone' | 'setup' = 'clone') {
    super(message)
    this.reason = reason
    this.code = code
    this.phase = phase
  }
}

/** A remote's mirror may be this old when a turn starts; a local repository costs so little to look at that it always is looked at. */
const REMOTE_FRESH_MS = 10_000
const FETCH_ATTEMPTS = 3
/** Milliseconds. */
const retries = exponential(1_000, 8_000)
/** A fetch that took longer than this before it failed is not begun again. */
const AGAIN_WITHIN_MS = 60_000

/**
 * Brings the mirror up to date when it has not been for a moment, and settles commit and branch of the run's first turn.
 * A remote that is away does not matter while the mirror has what the run needs. Throws StartError otherwise.
 */
export async function prepareBase(deps: WorkerDeps, writer: RunWriter, run: RunRow, signal: AbortSignal): Promise<Base | null> {
  if (run.repository_id === null) return null
  const repository = await getRepository(deps.db, run.organization_id, run.repository_id)
  if (!repository) throw new StartError('setup_failed', 'repository_removed', 'The repository of this run is no longer registered.')
  const known = knownBase(run)
  if (known !== null) {
    if (run.branch === null) await recordCheckout(deps.db, run.organization_id, run.id, writer.epoch, known)
    // Another worker may have begun: this machine's mirror may know nothing of it yet.
    if (!(await hasCommit(deps, repository, known.base_sha))) await requireCommit(deps, writer, repository, known.base_sha, signal)
    const base = { repository, ref: known.base_ref, sha: known.base_sha, branch: known.branch, renewed: null }
    return renewBase(deps, run, base, signal)
  }

  const asked = { base_ref: run.base_ref, asked_at: byOurClock(run, run.created_at) }
  const { found, unreachable } = await lookUp(deps, writer, repository, asked, signal)
  if (found === null) {
    if (unreachable) throw notFetched(unreachable)
    throw new StartError(
      'setup_failed',
      'unknown_base_ref',
      `There is no branch, tag or commit ${JSON.stringify(run.base_ref)} in ${repository.full_name}.`,
    )
  }
  if ('empty' in found)
    throw new StartError('setup_failed', 'empty_repository', `${repository.full_name} has no commit yet: push a first one, then run again.`)
  const branch = branchName(run.id, run.title, run.abandoned_branches)
  await recordCheckout(deps.db, run.organization_id, run.id, writer.epoch, { base_ref: found.ref, base_sha: found.sha, branch })
  if (run.base_ref === null) await setDefaultBranch(deps.db, run.organization_id, repository.id, found.ref)
  return { repository, ref: found.ref, sha: found.sha, branch, renewed: null }
}

/**
 * The commit that the run's ref stands for. A remote that is away is asked three times in all, if the mirror does not know the ref without it;
 * every wait stands in the trace before it is waited.
 */
async function lookUp(
  deps: WorkerDeps,
  writer: RunWriter,
  repository: RepositoryRow,
  asked: { base_ref: string | null; asked_at: number },
  signal: AbortSignal,
) {
  const started = performance.now()
  for (let attempt = 1; ; attempt++) {
    const unreachable = await bringUpToDate(deps, repository, asked.asked_at, signal)
    const found = await resolveRef(deps.git, repository.id, asked.base_ref)
    const again = unreachable?.retryable === true && attempt < FETCH_ATTEMPTS && performance.now() - started < AGAIN_WITHIN_MS
    if (found !== null || !again || signal.aborted) return { found, unreachable }
    const { code, message } = unreachable
    const wait = retryDelay(retries, attempt)
    const details = { code, message, retryable: true, phase: 'clone', attempt, retry_in_ms: Math.round(wait) }
    await writer.append({ entries: [errorEntry(details, 'git_clone')] })
    await delay(wait, undefined, { signal }).catch(() => {})
  }
}

/** Whether this machine's mirror knows the commit. */
export async function hasCommit(deps: WorkerDeps, repository: RepositoryRow, sha: string): Promise<boolean> {
  const found = await resolveRef(deps.git, repository.id, sha).catch(() => null)
  return found !== null && !('empty' in found)
}

async function requireCommit(
  deps: WorkerDeps,
  writer: RunWriter,
  repository: RepositoryRow,
  sha: string,
  signal: AbortSignal,
): Promise<void> {
  const { found, unreachable } = await lookUp(deps, writer, repository, { base_ref: sha, asked_at: Date.now() }, signal)
  if (found !== null && !('empty' in found)) return
  if (unreachable) throw notFetched(unreachable)
  const message = `${repository.full_name} has commit ${sha} no more, which this run started from.`
  throw new StartError('git_unavailable', 'base_commit_gone', message)
}

const notFetched = ({ code, message }: GitError) => new StartError('git_unavailable', code === 'timeout' ? 'fetch_timeout' : code, message)

/** What an earlier turn settled, or the run that was forked. A run that let its branch go keeps its base and gets a branch of a new name. */
function knownBase({ id, title, branch, abandoned_branches, base_ref, base_sha, forked_at_seq }: RunRow) {
  if (base_ref === null || base_sha === null || (branch === null && abandoned_branches === 0 && forked_at_seq === null)) return null
  return { base_ref, base_sha, branch: branch ?? branchName(id, title, abandoned_branches) }
}

/**
 * The same base while the pull request of its branch is open or not there. When it was closed or merged: a new branch (specification.md#create-and-resume), and
 * after a merge the base branch as it is now, if everything that the run has committed is in there. Nothing is written down yet.
 */
export async function renewBase(deps: WorkerDeps, run: RunRow, base: Base, signal: AbortSignal): Promise<Base> {
  await syncWithForge(deps, run, base.repository)
  const proposed = await listPullRequests(deps.db, run.organization_id, [run.id])
  const pr = proposed.find(item => item.head_branch === base.branch)
  if (!pr || pr.state === 'open' || pr.state === 'draft') return base
  const branch = nextBranch(run, new Set(proposed.map(item => item.head_branch)))
  const kept = { ...base, branch, renewed: { start_sha: run.head_sha ?? pr.head_sha } }
  if (pr.merge_sha === null || pr.merged_at === null) return kept
  const asked_at = Math.max(pr.merged_at.getTime(), run.turn_started_at.getTime())
  await bringUpToDate(deps, base.repository, byOurClock(run, new Date(asked_at)), signal)
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

/** A title may have changed, so that the next number leads to a name that was taken. */
export function nextBranch({ id, title, abandoned_branches }: RunRow, taken: ReadonlySet<string>): string {
  for (let earlier = abandoned_branches + 1; ; earlier++) {
    const name = branchName(id, title, earlier)
    if (!taken.has(name)) return name
  }
}

/** A moment of the database by the clock of this machine, which stamps the mirrors: the claim set `updated_at` just now by both. */
const byOurClock = (run: RunRow, moment: Date): number => Date.now() - (run.updated_at.getTime() - moment.getTime())

/** The create request has already set a refresh going: what it found, or is about to find, is new enough. */
async function bringUpToDate(deps: WorkerDeps, repository: RepositoryRow, asked_at: number, signal: AbortSignal): Promise<GitError | null> {
  const state = await mirrorState(deps.git, repository.id)
  const refreshed_at = state === null ? 0 : Date.parse(state.refreshed_at)
  const oldest = repository.kind === 'local' ? asked_at : Math.min(asked_at, Date.now() - REMOTE_FRESH_MS)
  // One from the future was stamped before the clock was set back: nobody knows when.
  if (refreshed_at >= oldest && refreshed_at <= Date.now()) return null
  try {
    await refreshMirror(deps.git, repository, { timeout_ms: deps.git_limits.fetch_ms, wait_ms: deps.git_limits.fetch_ms, signal })
    return null
  } catch (error) {
    if (error instanceof GitError) return error
    throw error
  }
}
