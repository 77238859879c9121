import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { ShownOnce } from '../../../components/form/shown-once.tsx'
import { moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { invitationsQuery, type Role } from '../people.ts'
import { RoleField } from '../role-field.tsx'

/** Invites a person, and shows the link of the invitation once. */
export function InviteForm({ on_done }: { on_done: () => void }) {
  const queries = useQueryClient()
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('MEMBER')
  const invite = useMutation({
    mutationFn: () => call('inviteMember', { body: { email, full_name: name.trim() || null, role } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: invitationsQuery.queryKey }),
  })
  const problems = fieldMessages(invite.error)
  if (invite.data) {
    return (
      <ShownOnce name="invitation link" value={invite.data.invitation_link} on_done={on_done}>
        Pass this link on to {visible(invite.data.email)}: the service sends no mail. It works once, until{' '}
        {moment(invite.data.expires_at)}, and is not shown again.
      </ShownOnce>
    )
  }
  return (
    <ApiForm
      label="Invite a person"
      request={invite}
      fields={['email', 'full_name', 'role']}
      missing={email.trim() === '' ? 'Enter the e-mail address first' : null}
      submit="Create invitation"
      variant="primary"
    >
      <TextField
        label="E-mail"
        problem={problems.email}
        placeholder="ada@example.org"
        value={email}
        on_change={setEmail}
      />
      <TextField
        label="Name"
        hint="Optional. For an account that the person creates."
        problem={problems.full_name}
        value={name}
        on_change={setName}
      />
      <RoleField value={role} on_change={setRole} problem={problems.role} />
    </ApiForm>
  )
}
