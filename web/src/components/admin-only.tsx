import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { meQuery } from '../api/queries.ts'
import { Forbidden, Loading } from '../ui/notice.tsx'
import { Page } from './page.tsx'

/**
 * A page that only an ADMIN may read. Others see why it is empty, and nothing is requested. `what`: what it
 * shows.
 */
export function AdminOnly({
  heading,
  what,
  children,
}: {
  heading: string
  what: string
  children: ReactNode
}) {
  const me = useQuery(meQuery).data
  if (!me) return <Loading />
  if (me.role === 'ADMIN') return children
  return (
    <Page heading={heading}>
      <Forbidden>
        Your role, {me.role}, may not view {what}. An ADMIN of the organization can.
      </Forbidden>
    </Page>
  )
}
