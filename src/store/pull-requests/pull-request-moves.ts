import { changedOne, type Db } from '../database.ts'
import { now, updateRow } from '../statement.ts'
import type { PullRequestState } from './pull-requests.ts'

export type PullRequestEdit = {
  from: PullRequestState
  to: PullRequestState
  title?: string | undefined
  body?: string | undefined
  /** With the size of the change against it. */
  base?: { base_branch: string; files_changed: number; additions: number; deletions: number } | undefined
}

/**
 * Changes the given fields while the state is `from`. Returns false when it has another state; then nothing
 * was changed.
 */
export function editPullRequest(
  db: Db,
  organization_id: number,
  id: number,
  edit: PullRequestEdit,
): Promise<boolean> {
  const { from, to, title, body, base } = edit
  return changedOne(
    db,
    updateRow('pull_requests', {
      where: { organization_id, id, state: from },
      and: bind => `(state = 'merged') = (${bind(to)} = 'merged')`,
      set: { state: to, held_back: bind => `held_back and state = ${bind(to)}`, updated_at: now },
      change: {
        title,
        body,
        base_branch: base?.base_branch,
        files_changed: base?.files_changed,
        additions: base?.additions,
        deletions: base?.deletions,
      },
    }),
  )
}

/** Records the verdict of the evaluation of a head. The pull request shows it while it is at that head. */
export async function recordReview(
  db: Db,
  organization_id: number,
  id: number,
  review: { head_sha: string; verdict: 'pass' | 'fail' | 'inconclusive' },
): Promise<void> {
  await db.query({
    name: 'record_pull_request_review',
    text: `update pull_requests
      set review = $4, reviewed_sha = $3, updated_at = now()
      where organization_id = $1 and id = $2`,
    values: [organization_id, id, review.head_sha, review.verdict],
  })
}

/**
 * Opens a draft that was held back for its evaluation, at the head that passed. Returns false when it is not
 * held back, or has another head.
 */
export function openHeldBack(
  db: Db,
  organization_id: number,
  id: number,
  head_sha: string,
): Promise<boolean> {
  return changedOne(db, {
    name: 'open_held_back',
    text: `update pull_requests
      set state = 'open', held_back = false, updated_at = now()
      where organization_id = $1 and id = $2 and head_sha = $3 and state = 'draft' and held_back`,
    values: [organization_id, id, head_sha],
  })
}

/**
 * Records that the branch is at a new commit. Returns false when that is already recorded, or the pull
 * request is no longer open.
 */
export function recordHead(
  db: Db,
  organization_id: number,
  id: number,
  head: { from_sha: string; head_sha: string; files_changed: number; additions: number; deletions: number },
): Promise<boolean> {
  return changedOne(
    db,
    updateRow('pull_requests', {
      where: { organization_id, id, head_sha: head.from_sha },
      and: `state in ('open', 'draft')`,
      set: {
        head_sha: head.head_sha,
        files_changed: head.files_changed,
        additions: head.additions,
        deletions: head.deletions,
        updated_at: now,
      },
    }),
  )
}

/**
 * Closes a pull request whose head branch was deleted. Returns false when it has another head, or is no
 * longer open.
 */
export function closeGone(db: Db, organization_id: number, id: number, head_sha: string): Promise<boolean> {
  return changedOne(db, {
    name: 'close_gone_pull_request',
    text: `update pull_requests
      set state = 'closed', held_back = false, updated_at = now()
      where organization_id = $1 and id = $2 and head_sha = $3 and state in ('open', 'draft')`,
    values: [organization_id, id, head_sha],
  })
}

/**
 * Records a merge before it is pushed. Returns false when the pull request is no longer open, so nothing may
 * be pushed.
 */
export function addMergeAttempt(db: Db, organization_id: number, id: number, sha: string): Promise<boolean> {
  return changedOne(db, {
    name: 'add_merge_attempt',
    text: `update pull_requests
      set merge_attempts = merge_attempts || $3::text
      where organization_id = $1 and id = $2 and state = 'open'`,
    values: [organization_id, id, sha],
  })
}

/** Removes a merge that is known not to have arrived. */
export async function dropMergeAttempt(
  db: Db,
  organization_id: number,
  id: number,
  sha: string,
): Promise<void> {
  await db.query({
    name: 'drop_merge_attempt',
    text: `update pull_requests
      set merge_attempts = array_remove(merge_attempts, $3)
      where organization_id = $1 and id = $2`,
    values: [organization_id, id, sha],
  })
}

/**
 * Marks a pull request as merged, because the base branch contains it, in whatever state it is. Returns false
 * when that is already recorded.
 */
export function markMerged(
  db: Db,
  organization_id: number,
  id: number,
  merge: { merge_sha: string; head_sha: string },
): Promise<boolean> {
  return changedOne(db, {
    name: 'mark_pull_request_merged',
    text: `update pull_requests
      set state = 'merged', merge_sha = $3, head_sha = $4, merge_attempts = '{}', merged_at = now(),
        updated_at = now()
      where organization_id = $1 and id = $2 and state <> 'merged'`,
    values: [organization_id, id, merge.merge_sha, merge.head_sha],
  })
}

/** Updates `updated_at` after a comment, so that clients load the pull request again. */
export function touchPullRequest(db: Db, organization_id: number, id: number): Promise<boolean> {
  return changedOne(db, {
    name: 'touch_pull_request',
    text: `update pull_requests
      set updated_at = now()
      where organization_id = $1 and id = $2`,
    values: [organization_id, id],
  })
}
