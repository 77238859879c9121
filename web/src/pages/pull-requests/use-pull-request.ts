import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { PullRequest } from '../../../../src/contract/pull-requests/pull-requests.ts'
import { pullRequestPageQuery } from '../../api/queries.ts'

/** The pull request of the address, inside its page: it is loaded before a tab is rendered. */
export function usePullRequest(): PullRequest {
  const { prId } = useParams({ from: '/app/pull-requests/$prId' })
  return useSuspenseQuery(pullRequestPageQuery(Number(prId))).data
}
