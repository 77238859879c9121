import type { PullRequestState } from '../../contract/pull-requests/pull-requests.ts'

export type AskedState = 'open' | 'closed' | 'draft' | 'ready_for_review'

/** The state that a pull request takes when a person asks for one, or why it cannot. What it is already it may be asked to be. */
export function askedState(
  state: PullRequestState,
  asked: AskedState,
): { state: Exclude<PullRequestState, 'merged'> } | { refused: string } {
  if (state === 'merged') return { refused: 'The pull request is merged; its state does not change any more.' }
  if (asked !== 'ready_for_review') return { state: asked }
  return state === 'closed' ? { refused: 'The pull request is closed; open it first.' } : { state: 'open' }
}
