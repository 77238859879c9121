import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Result } from '../../../../src/contract/calls.ts'
import { call } from '../../api/client.ts'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { moment } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Loading } from '../../ui/notice.tsx'
import { type Column, Table } from '../../ui/table.tsx'

type Member = Result<'listMembers'>['items'][number]

const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: ({ signal }) => call('listMembers', { query: { limit: 100 }, signal }),
})

const columns: Column<Member>[] = [
  {
    name: 'Member',
    main: true,
    cell: ({ full_name, email, user_id, kind }) => (
      <span className="flex items-center gap-2">
        <span className="font-medium">{visible(full_name ?? email ?? `User ${user_id}`)}</span>
        {kind === 'service' && <Badge>Service user</Badge>}
      </span>
    ),
  },
  { name: 'E-mail', wide_only: true, cell: ({ email }) => <span className="text-muted">{email === null ? '–' : visible(email)}</span> },
  { name: 'Role', cell: ({ role }) => role.toLowerCase() },
  {
    name: 'Member since',
    wide_only: true,
    cell: ({ created_at }) => (
      <time dateTime={created_at} className="text-muted">
        {moment(created_at)}
      </time>
    ),
  },
]

/** The members of the organization and their roles. */
export function MembersPage() {
  const members = useQuery(membersQuery)
  if (members.isError) return <PageProblem error={members.error} retry={() => members.refetch()} what="list" />
  return (
    <Page heading="Members" note={members.data?.total} about="People and service users of the organization, and what their role permits.">
      {members.data ? (
        <Table label="Members" columns={columns} rows={members.data.items} row_key={({ user_id }) => user_id} />
      ) : (
        <Loading label="Loading the members" />
      )}
    </Page>
  )
}
