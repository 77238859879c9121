import { useQuery } from '@tanstack/react-query'
import { UserRoundPlus } from 'lucide-react'
import { meQuery } from '../../../api/queries.ts'
import { useAdminReason } from '../../../components/permission.ts'
import { momentColumn, QueryPage, useDialog } from '../../../components/resource-page.tsx'
import { RowMenu } from '../../../components/row-menu.tsx'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { MenuItem } from '../../../ui/menu.tsx'
import { type Column, Table } from '../../../ui/table.tsx'
import { type Member, memberName, membersQuery } from '../people.ts'
import { Invitations } from './invitations.tsx'
import { InviteForm } from './invite-form.tsx'
import { Removal, RoleForm, SignInLink } from './member-dialogs.tsx'

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
  momentColumn('Member since', ({ created_at }) => created_at),
]

/** The members of the organization, their roles, and the invitations that are open. */
export function MembersPage() {
  const me = useQuery(meQuery).data
  const forbidden = useAdminReason('members')
  const { dialog, show } = useDialog()
  const invite = (close: () => void) => (
    <Dialog title="Invite a person" on_close={close}>
      <InviteForm on_done={close} />
    </Dialog>
  )
  const menu = (member: Member) => (
    <MemberMenu member={member} own={member.user_id === me?.id} forbidden={forbidden} show={show} />
  )
  return (
    <QueryPage
      query={membersQuery}
      what="list"
      heading="Members"
      note={members => members.length}
      about="People and service users of the organization, and what their role permits."
      actions={
        <Button variant="primary" reason={forbidden} onClick={() => show(invite)}>
          <UserRoundPlus aria-hidden className="size-4" /> Invite a person
        </Button>
      }
      loading="Loading the members"
    >
      {members => (
        <>
          <Table
            label="Members"
            columns={[...columns, { name: '', cell: menu }]}
            rows={members}
            row_key={({ user_id }) => user_id}
          />
          {me?.role === 'ADMIN' && <Invitations />}
          {dialog}
        </>
      )}
    </QueryPage>
  )
}

type MenuProps = {
  member: Member
  own: boolean
  forbidden: string | null
  show: ReturnType<typeof useDialog>['show']
}

function MemberMenu({ member, own, forbidden, show }: MenuProps) {
  const name = memberName(member)
  const changeRole = (close: () => void) => (
    <Dialog title={`Role of ${name}`} on_close={close}>
      <RoleForm member={member} on_done={close} />
    </Dialog>
  )
  const createLink = (close: () => void) => (
    <Dialog title={`Sign-in link for ${name}`} on_close={close}>
      <SignInLink member={member} own={own} on_done={close} />
    </Dialog>
  )
  return (
    <RowMenu label={`Actions for ${name}`}>
      <MenuItem reason={forbidden} on_select={() => show(changeRole)}>
        Change role…
      </MenuItem>
      {member.kind === 'person' && (
        <MenuItem reason={own ? null : forbidden} on_select={() => show(createLink)}>
          Create sign-in link…
        </MenuItem>
      )}
      <MenuItem
        danger
        reason={own ? null : forbidden}
        on_select={() => show(close => <Removal member={member} own={own} on_close={close} />)}
      >
        {own ? 'Leave the organization…' : 'Remove…'}
      </MenuItem>
    </RowMenu>
  )
}
