import { call } from '../../../api/client.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { ShownOnce } from '../../../components/form/shown-once.tsx'
import { useForm } from '../../../components/form/use-form.ts'
import { moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { invitationsQuery, type Role } from '../people.ts'
import { RoleField } from '../role-field.tsx'

/** Invites a person, and shows the link of the invitation once. */
export function InviteForm({ on_done }: { on_done: () => void }) {
  const { draft, field, request, props } = useForm({
    saved: { email: '', full_name: '', role: 'MEMBER' as Role },
    send: ({ full_name, ...body }) =>
      call('inviteMember', { body: { ...body, full_name: full_name.trim() || null } }),
    refresh: [invitationsQuery],
  })
  const { data } = request
  if (data) {
    return (
      <ShownOnce name="invitation link" value={data.invitation_link} on_done={on_done}>
        Pass this link on to {visible(data.email)}: the service sends no mail. It works once, until{' '}
        {moment(data.expires_at)}, and is not shown again.
      </ShownOnce>
    )
  }
  return (
    <ApiForm
      {...props}
      label="Invite a person"
      missing={draft.email.trim() === '' ? 'Enter the e-mail address first' : null}
      submit="Create invitation"
    >
      <TextField {...field('email')} label="E-mail" placeholder="ada@example.org" />
      <TextField
        {...field('full_name')}
        label="Name"
        hint="Optional. For an account that the person creates."
      />
      <RoleField {...field('role')} />
    </ApiForm>
  )
}
