import { infiniteQueryOptions } from '@tanstack/react-query'
import type { Result } from '../../../../../src/contract/calls.ts'
import { nextSkip } from '../../../api/all-items.ts'
import { call } from '../../../api/client.ts'
import type { AuditSearch } from '../../../search-params.ts'
import { createdWithin } from '../../../text/days.ts'

export type AuditEntry = Result<'listAuditLog'>['items'][number]

const PAGE_SIZE = 50

export const auditQuery = ({ user, action, from, to }: AuditSearch) =>
  infiniteQueryOptions({
    queryKey: ['audit-log', user, action, from, to],
    queryFn: ({ pageParam, signal }) => {
      const filter = {
        user_id: user === undefined ? undefined : [user],
        action: action === undefined ? undefined : [action],
      }
      return call('listAuditLog', {
        query: { ...filter, ...createdWithin({ from, to }), skip: pageParam, limit: PAGE_SIZE },
        signal,
      })
    },
    initialPageParam: 0,
    getNextPageParam: nextSkip,
    staleTime: 0,
  })
