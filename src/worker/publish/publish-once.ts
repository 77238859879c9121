import type { Change } from '../../agent/phases/change-text.ts'
import { GitError } from '../../git/process/git-error.ts'
import { keepPushed } from '../../git/publish/bundles.ts'
import { isAncestor } from '../../git/publish/merge.ts'
import { noteAncestor } from '../../git/publish/mergeable.ts'
import { keepOwnPush } from '../../git/publish/own-push.ts'
import { hasCommit } from '../../git/read/revisions.ts'
import { getChange } from '../../store/changes.ts'
import { listPullRequests, type PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import { recordNextBranch } from '../../store/workspaces/workspaces.ts'
import { objectsOfRun } from '../base/base.ts'
import { syncWithForge } from '../base/propose-on-forge.ts'
import { requireOwned } from '../claim/fenced-error.ts'
import { isEnded } from './ended-pull-request.ts'
import { evaluateTurn } from './evaluate-commits.ts'
import { evaluateProposed } from './evaluate-pull-request.ts'
import { exportCommit, type HeadReader, headReader } from './export-commit.ts'
import { propose } from './propose.ts'
import {
  type CommittedPublication,
  type NotPublished,
  type PublishResult,
  uncommittedPaths,
} from './publication.ts'
import { pushRunBranch } from './push-branch.ts'
import type { PushConflict } from './push-conflict.ts'

/**
 * What the branch of a publication holds already. `pushed_sha`: the last commit that the run pushed to it.
 */
type Branch = { pushed_sha: string | null; proposed: readonly PullRequestRow[] }

/** `pull_request_ended`: the pull request of the branch was closed or merged meanwhile. */
type Outcome = PublishResult | NotPublished | PushConflict | { kind: 'pull_request_ended' }

/** Makes one round: exports the commit, reviews it, pushes it and opens or updates its pull request. */
export async function publishOnce(committed: CommittedPublication): Promise<Outcome> {
  const { deps, run, base, head } = committed
  const proposed = await listPullRequests(deps.db, run.organization_id, [run.id])
  const branch: Branch = { pushed_sha: base.renewed ? null : run.pushed_sha, proposed }
  const uncommitted = uncommittedPaths(committed.gaps)
  if (await isUnchanged(committed, branch)) return { kind: 'nothing', uncommitted }
  const reader = headReader(committed)
  const failed = await exportIfNew(committed, reader)
  if (failed) return failed
  const change = await getChange(deps.db, run.organization_id, run.id)
  if (!change || (change.files_changed === 0 && branch.pushed_sha === null))
    return { kind: 'nothing', uncommitted }
  // An earlier turn may have committed without a push, or pushed without a pull request.
  const pushes = head !== branch.pushed_sha
  const stopped = pushes ? await reviewAndPush(committed, branch, { change, reader }) : null
  if (stopped) return stopped
  await keepInMirror(committed, pushes ? { name: base.branch, before: branch.pushed_sha } : null)
  const pushed = { kind: 'pushed', head, is_new: pushes, uncommitted } as const
  if (!run.auto_create_pr) return { ...pushed, refusal: null }
  const known = proposed.some(pr => pr.head_branch === base.branch && pr.head_sha === head)
  const result = known ? null : await propose(committed, change)
  if (result?.kind === 'ended') return { kind: 'pull_request_ended' }
  await evaluateProposed(committed)
  await syncWithForge(deps, run, base.repository)
  return { ...pushed, refusal: result?.kind === 'refused' ? result.message : null }
}

/**
 * Whether the head is the base, what the run abandoned, or part of a pull request that was closed or merged:
 * that is not proposed again.
 */
async function isUnchanged(
  { deps, run, base, head }: CommittedPublication,
  { pushed_sha, proposed }: Branch,
): Promise<boolean> {
  if (head === base.sha || (pushed_sha === null && head === run.abandoned_sha)) return true
  const objects = objectsOfRun(run, base)
  for (const pr of proposed.filter(isEnded))
    if (pr.head_sha === head || (await isAncestor(deps.git, objects, head, pr.head_sha).catch(() => false)))
      return true
  return false
}

/** An earlier worker may have exported the commit, perhaps on another machine. */
async function exportIfNew(committed: CommittedPublication, reader: HeadReader) {
  const { deps, run, base, head } = committed
  const exported =
    head === run.head_sha && !base.renewed && (await hasCommit(deps.git, objectsOfRun(run, base), head))
  return exported ? null : exportCommit(committed, reader)
}

/** Null: the branch is pushed. */
async function reviewAndPush(
  committed: CommittedPublication,
  { pushed_sha, proposed }: Branch,
  read: { change: Change; reader: HeadReader },
): Promise<Outcome | null> {
  const { deps, writer, run, base } = committed
  const next = { base_sha: base.sha, branch: base.branch }
  if (base.renewed)
    requireOwned(await recordNextBranch(deps.db, run.organization_id, run.id, writer.epoch, next))
  const stopped = await evaluateTurn(committed, pushed_sha, read)
  if (stopped) return stopped
  const { parents } = await read.reader.newObjectsSince(base.sha)
  if (parents.has(base.sha)) noteAncestor(base.sha, committed.head)
  const proposes = run.auto_create_pr && !proposed.some(pr => pr.head_branch === base.branch && !isEnded(pr))
  return pushRunBranch(committed, { pushed_sha, proposes })
}

/** Other runs can read the commit from now on: they must not read what was refused or waits for approval. */
async function keepInMirror(
  { deps, run, base, head }: CommittedPublication,
  branch: { name: string; before: string | null } | null,
): Promise<void> {
  const pushed = { turn: run.turn, head_sha: head, base_sha: base.sha, branch }
  const keep = () => keepPushed(deps.git, objectsOfRun(run, base), pushed)
  const kept =
    branch === null
      ? keep()
      : keepOwnPush(deps.git, base.repository, { branch: branch.name, sha: head }, keep)
  await kept.catch(error => {
    if (!(error instanceof GitError)) throw error
    // The next fetch gets it from the remote.
    deps.log('error', 'a pushed commit could not be kept', { run_id: run.id, error: error.message })
  })
}
