import type { RemotePullRequest, RemoteState } from '../port.ts'

/** A pull request in a list or alone. */
type Described = {
  number: number
  node_id: string
  html_url: string
  state: string
  draft?: boolean | undefined
  merged_at: string | null
  merge_commit_sha: string | null
  title: string
  body: string | null
  head: { ref: string; sha: string }
  base: { ref: string; sha: string }
  mergeable?: boolean | null | undefined
}

/** Returns a pull request of GitHub in the terms of the port. Merge fields are null until it is merged. */
export function remotePullRequest(pr: Described): RemotePullRequest {
  const state = stateOf(pr)
  return {
    number: pr.number,
    node_id: pr.node_id,
    url: pr.html_url,
    state,
    title: pr.title,
    body: pr.body ?? '',
    head_branch: pr.head.ref,
    head_sha: pr.head.sha,
    base_branch: pr.base.ref,
    base_sha: pr.base.sha,
    merge_sha: state === 'merged' ? pr.merge_commit_sha : null,
    merged_at: state === 'merged' && pr.merged_at !== null ? new Date(pr.merged_at) : null,
    mergeable: pr.mergeable === true ? 'clean' : pr.mergeable === false ? 'conflict' : 'unknown',
  }
}

function stateOf({ merged_at, merge_commit_sha, state, draft }: Described): RemoteState {
  // The merge commit is known a moment after the merge; until then it counts as closed and is polled again.
  if (merged_at !== null && merge_commit_sha !== null) return 'merged'
  if (state !== 'open') return 'closed'
  return draft === true ? 'draft' : 'open'
}
