import { useQuery } from '@tanstack/react-query'
import { UserRoundPlus } from 'lucide-react'
import { useState } from 'react'
import { meQuery } from '../../../api/queries.ts'
import { Page } from '../../../components/page.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { useAdminReason } from '../../../components/permission.ts'
import { RowMenu } from '../../../components/row-menu.tsx'
import { moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { MenuItem } from '../../../ui/menu.tsx'
import { Loading } from '../../../ui/notice.tsx'
import { type Column, Table } from '../../../ui/table.tsx'
import { type Member, memberName, membersQuery } from '../people.ts'
import { Invitations } from './invitations.tsx'
import { InviteForm } from './invite-form.tsx'
import { type MemberAct, MemberDialogs } from './member-dialogs.tsx'

const columns: Column<Member>[] = [
  {
    name: 'Member',
    main: true,
    cell: member => (
      <span className="flex items-center gap-2">
        <span className="font-medium">{memberName(member)}</span>
        {member.kind === 'service' && <Badge>Service user</Badge>}
        {member.kind === 'person' && !member.has_signed_in && <Badge>Never signed in</Badge>}
      </span>
    ),
  },
  {
    name: 'E-mail',
    wide_only: true,
    cell: ({ email }) => <span className="text-muted">{email === null ? '–' : visible(email)}</span>,
  },
  { name: 'Role', cell: ({ role }) => role },
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

/** The members of the organization, their roles, and the invitations that are open. */
export function MembersPage() {
  const members = useQuery(membersQuery)
  const me = useQuery(meQuery).data
  const forbidden = useAdminReason('members')
  const [inviting, setInviting] = useState(false)
  const [act, setAct] = useState<MemberAct | null>(null)
  if (members.isError)
    return <PageProblem error={members.error} retry={() => members.refetch()} what="list" />
  const menu = (member: Member) => (
    <MemberMenu member={member} own={member.user_id === me?.id} forbidden={forbidden} on_act={setAct} />
  )
  return (
    <Page
      heading="Members"
      note={members.data?.length}
      about="People and service users of the organization, and what their role permits."
      actions={
        <Button variant="primary" reason={forbidden} onClick={() => setInviting(true)}>
          <UserRoundPlus aria-hidden className="size-4" /> Invite a person
        </Button>
      }
    >
      {members.data ? (
        <Table
          label="Members"
          columns={[...columns, { name: '', cell: menu }]}
          rows={members.data}
          row_key={({ user_id }) => user_id}
        />
      ) : (
        <Loading label="Loading the members" />
      )}
      {me?.role === 'ADMIN' && <Invitations />}
      <Dialog title="Invite a person" open={inviting} on_close={() => setInviting(false)}>
        <InviteForm on_done={() => setInviting(false)} />
      </Dialog>
      <MemberDialogs act={act} own={act?.member.user_id === me?.id} on_close={() => setAct(null)} />
    </Page>
  )
}

type MenuProps = { member: Member; own: boolean; forbidden: string | null; on_act: (act: MemberAct) => void }

function MemberMenu({ member, own, forbidden, on_act }: MenuProps) {
  const person = member.kind === 'person'
  return (
    <RowMenu label={`Actions for ${memberName(member)}`}>
      <MenuItem reason={forbidden} on_select={() => on_act({ kind: 'role', member })}>
        Change role…
      </MenuItem>
      {person && (
        <MenuItem reason={own ? null : forbidden} on_select={() => on_act({ kind: 'link', member })}>
          Create sign-in link…
        </MenuItem>
      )}
      <MenuItem danger reason={own ? null : forbidden} on_select={() => on_act({ kind: 'remove', member })}>
        {own ? 'Leave the organization…' : 'Remove…'}
      </MenuItem>
    </RowMenu>
  )
}
