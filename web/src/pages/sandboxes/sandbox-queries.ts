import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Sandbox } from '../../../../src/contract/repositories/sandboxes.ts'
import { nextSkip } from '../../api/all-items.ts'
import { call } from '../../api/client.ts'
import type { SandboxListSearch } from '../../search-params.ts'

const PAGE_SIZE = 50

/** No stream covers sandboxes. */
const REFETCH_INTERVAL_MS = 5_000

export const sandboxesQuery = ({ state, kind, repo }: SandboxListSearch) =>
  infiniteQueryOptions({
    queryKey: ['sandboxes', state, kind, repo],
    queryFn: ({ pageParam, signal }) =>
      call('listSandboxes', {
        query: { skip: pageParam, limit: PAGE_SIZE, state, kind, repo_id: repo },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: nextSkip,
    refetchInterval: REFETCH_INTERVAL_MS,
  })

export const sandboxQuery = (sandbox_id: number) =>
  queryOptions({
    queryKey: ['sandbox', sandbox_id],
    queryFn: ({ signal }) => call('getSandbox', { params: { sandbox_id }, signal }),
    refetchInterval: ({ state: { data } }) => (data?.ended_at === null ? REFETCH_INTERVAL_MS : false),
  })

/**
 * The trace entries of a sandbox, oldest first. They are fetched again while it is there, and once more when
 * it has ended.
 */
export const sandboxEntriesQuery = ({ id, state, ended_at }: Sandbox) =>
  infiniteQueryOptions({
    queryKey: ['sandbox-entries', id, state],
    queryFn: ({ pageParam, signal }) =>
      call('getSandboxLogs', {
        params: { sandbox_id: id },
        query: { skip: pageParam, limit: PAGE_SIZE },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: nextSkip,
    placeholderData: previous => previous,
    refetchInterval: ended_at === null ? REFETCH_INTERVAL_MS : false,
  })
