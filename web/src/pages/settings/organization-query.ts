import { queryOptions } from '@tanstack/react-query'
import type { Result } from '../../../../src/contract/calls.ts'
import { call } from '../../api/client.ts'

export type Organization = Result<'getOrganization'>

/** The organization with its settings. */
export const organizationQuery = queryOptions({
  queryKey: ['organization'],
  queryFn: ({ signal }) => call('getOrganization', { signal }),
})
