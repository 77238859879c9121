import { isMerged, mergedAt } from '../merge-fields.ts'
import type { RemotePullRequest, RemoteState } from '../port.ts'
import { readResponse } from '../read-response.ts'
import { PullRequest } from './shapes.ts'

/**
 * Returns a pull request of GitHub, from a list or alone, in the terms of the port. Merge fields are null
 * until it is merged. ForgeError `answer`.
 */
export const remotePullRequest = (data: unknown): RemotePullRequest =>
  inTermsOfPort(readResponse('GitHub', PullRequest, data))

export function inTermsOfPort(pr: PullRequest): RemotePullRequest {
  const state = stateOf(pr)
  return {
    number: pr.number,
    node_id: pr.node_id || null,
    url: pr.html_url,
    state,
    title: pr.title,
    body: pr.body,
    head_branch: pr.head.ref,
    head_sha: pr.head.sha,
    base_branch: pr.base.ref,
    base_sha: pr.base.sha,
    merge_sha: state === 'merged' ? pr.merge_commit_sha : null,
    merged_at: state === 'merged' ? mergedAt(pr) : null,
    mergeable: pr.mergeable === true ? 'clean' : pr.mergeable === false ? 'conflict' : 'unknown',
  }
}

function stateOf(pr: PullRequest): RemoteState {
  // The merge commit is known a moment after the merge; until then it counts as closed and is polled again.
  if (isMerged(pr) && pr.merge_commit_sha !== null) return 'merged'
  if (pr.state !== 'open') return 'closed'
  return pr.draft ? 'draft' : 'open'
}
