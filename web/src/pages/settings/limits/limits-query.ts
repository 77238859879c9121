import { queryOptions } from '@tanstack/react-query'
import { call } from '../../../api/client.ts'

/** The limits of the organization, and how much of them is used. */
export const limitsQuery = queryOptions({
  queryKey: ['limits'],
  queryFn: ({ signal }) => call('getOrganizationLimits', { signal }),
  // What is used changes with every run.
  refetchInterval: 15_000,
})
