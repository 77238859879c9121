import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Result } from '../../../../../src/contract/calls.ts'
import { call } from '../../../api/client.ts'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { type Column, Table } from '../../../ui/table.tsx'
import { notify } from '../../../ui/toast.ts'
import { invitationsQuery, usePersonNames } from '../people.ts'

type Invitation = Result<'listInvitations'>['items'][number]

/** The invitations that nobody has accepted yet. Nothing is shown without one. */
export function Invitations() {
  const invitations = useQuery(invitationsQuery)
  const nameOf = usePersonNames()
  const [revoking, setRevoking] = useState<Invitation | null>(null)
  if (invitations.isError)
    return <PageProblem error={invitations.error} retry={() => invitations.refetch()} what="list" />
  if (!invitations.data || invitations.data.length === 0) return null
  const columns: Column<Invitation>[] = [
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
    {
      name: 'Expires',
      wide_only: true,
      cell: ({ expires_at }) => (
        <time dateTime={expires_at} className="text-muted">
          {moment(expires_at)}
        </time>
      ),
    },
    {
      name: '',
      cell: invitation => (
        <Button
          variant="quiet"
          aria-label={`Revoke the invitation of ${visible(invitation.email)}`}
          onClick={() => setRevoking(invitation)}
        >
          Revoke
        </Button>
      ),
    },
  ]
  return (
    <div className="mt-6">
      <h2 className="mb-2 font-semibold">Invitations</h2>
      <Table label="Invitations" columns={columns} rows={invitations.data} row_key={({ id }) => id} />
      {revoking && <Revocation invitation={revoking} on_close={() => setRevoking(null)} />}
    </div>
  )
}

function Revocation({ invitation, on_close }: { invitation: Invitation; on_close: () => void }) {
  const queries = useQueryClient()
  const revoke = useMutation({
    mutationFn: () => call('revokeInvitation', { params: { invitation_id: invitation.id } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: invitationsQuery.queryKey })
      notify('The invitation was revoked')
      on_close()
    },
  })
  return (
    <ConfirmDialog
      title="Revoke the invitation"
      action="Revoke invitation"
      request={revoke}
      open
      on_close={on_close}
    >
      The link that {visible(invitation.email)} got no longer works.
    </ConfirmDialog>
  )
}
