import { useQuery } from '@tanstack/react-query'
import type { Result } from '../../../../../src/contract/calls.ts'
import { call } from '../../../api/client.ts'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { momentColumn, ResourceTable } from '../../../components/resource-page.tsx'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import type { Column } from '../../../ui/table.tsx'
import { invitationsQuery, usePersonNames } from '../people.ts'

type Invitation = Result<'listInvitations'>['items'][number]

/** The invitations that nobody has accepted yet. Nothing is shown without one. */
export function Invitations() {
  const invitations = useQuery(invitationsQuery)
  const nameOf = usePersonNames()
  if (invitations.isError)
    return <PageProblem error={invitations.error} retry={() => invitations.refetch()} what="list" />
  if (!invitations.data || invitations.data.length === 0) return null
  return (
    <div className="mt-6">
      <h2 className="mb-2 font-semibold">Invitations</h2>
      <ResourceTable
        label="Invitations"
        columns={columns(nameOf)}
        rows={invitations.data}
        row_key={({ id }) => id}
        name={({ email }) => visible(email)}
        actions={({ id, email }) => [
          {
            text: 'Revoke',
            label: `Revoke the invitation of ${visible(email)}`,
            dialog: close => (
              <ConfirmDialog
                title="Revoke the invitation"
                action="Revoke invitation"
                send={() => call('revokeInvitation', { params: { invitation_id: id } })}
                refresh={[invitationsQuery]}
                done="The invitation was revoked"
                on_close={close}
              >
                The link that {visible(email)} got no longer works.
              </ConfirmDialog>
            ),
          },
        ]}
      />
    </div>
  )
}

const columns = (nameOf: (user_id: number) => string): Column<Invitation>[] => [
  {
    name: 'Invited',
    main: true,
    cell: ({ email, full_name, expires_at }) => (
      <span className="flex items-center gap-2">
        <span className="font-medium">{visible(full_name ?? email)}</span>
        {Date.parse(expires_at) < Date.now() && <Badge tone="warn">Expired</Badge>}
      </span>
    ),
  },
  {
    name: 'E-mail',
    wide_only: true,
    cell: ({ email }) => <span className="text-muted">{visible(email)}</span>,
  },
  { name: 'Role', cell: ({ role }) => role },
  {
    name: 'By',
    wide_only: true,
    cell: ({ created_by }) => (
      <span className="text-muted">{created_by === null ? '–' : nameOf(created_by)}</span>
    ),
  },
  momentColumn('Expires', ({ expires_at }) => expires_at),
]
