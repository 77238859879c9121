import { expect, test } from 'vitest'
import type { PullRequestState } from '../../contract/pull-requests/pull-requests.ts'
import { type RequestedState, requestedState } from './pull-request-state.ts'

const table: Record<PullRequestState, Record<RequestedState, string>> = {
  open: { open: 'open', closed: 'closed', draft: 'draft', ready_for_review: 'open' },
  draft: { open: 'open', closed: 'closed', draft: 'draft', ready_for_review: 'open' },
  closed: { open: 'open', closed: 'closed', draft: 'draft', ready_for_review: 'refused' },
  merged: { open: 'refused', closed: 'refused', draft: 'refused', ready_for_review: 'refused' },
}

test.each(
  Object.entries(table).flatMap(([state, row]) =>
    Object.entries(row).map(([requested, then]) => [state, requested, then]),
  ),
)('one that is %s and should become %s: %s', (state, requested, then) => {
  const response = requestedState(state as PullRequestState, requested as RequestedState)
  expect('state' in response ? response.state : 'refused').toBe(then)
})
