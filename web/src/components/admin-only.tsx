import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { meQuery } from '../api/queries.ts'
import { Forbidden, Loading } from '../ui/notice.tsx'

/** What only an ADMIN may read. Others see why it is missing, and nothing is requested. */
export function AdminOnly({ what, children }: { what: string; children: ReactNode }) {
  const me = useQuery(meQuery).data
  if (!me) return <Loading />
  if (me.role === 'ADMIN') return children
  return (
    <Forbidden>
      Your role, {me.role}, may not view {what}. An ADMIN of the organization can.
    </Forbidden>
  )
}
