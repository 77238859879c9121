import { infiniteQueryOptions } from '@tanstack/react-query'
import { nextSkip } from '../../api/all-items.ts'
import { call } from '../../api/client.ts'
import type { PullRequestListSearch } from '../../search-params.ts'

const PAGE_SIZE = 50

/**
 * Pull requests, newest first. No stream covers them, so that the list is fetched again while it is shown.
 */
export const pullRequestsQuery = ({ state, review, repo }: PullRequestListSearch) =>
  infiniteQueryOptions({
    queryKey: ['pull-requests', state, review, repo],
    queryFn: ({ pageParam, signal }) =>
      call('listPullRequests', {
        query: { skip: pageParam, limit: PAGE_SIZE, state, review, repo_id: repo },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: nextSkip,
    refetchInterval: 10_000,
  })
