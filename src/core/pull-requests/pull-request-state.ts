import type { PullRequestState } from '../../contract/pull-requests/pull-requests.ts'

export type RequestedState = 'open' | 'closed' | 'draft' | 'ready_for_review'

/**
 * Returns the state of a pull request after a person's request, or why the request is invalid. Requesting the
 * current state is valid.
 */
export function requestedState(
  state: PullRequestState,
  requested: RequestedState,
): { state: Exclude<PullRequestState, 'merged'> } | { refused: string } {
  if (state === 'merged') return { refused: 'The pull request is merged; its state no longer changes.' }
  if (requested !== 'ready_for_review') return { state: requested }
  return state === 'closed' ? { refused: 'The pull request is closed; open it first.' } : { state: 'open' }
}
