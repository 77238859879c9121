import { call } from '../../../api/client.ts'
import { meQuery } from '../../../api/queries.ts'
import { ApiForm } from '../../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { ShownOnce } from '../../../components/form/shown-once.tsx'
import { useForm } from '../../../components/form/use-form.ts'
import { useRequest } from '../../../components/form/use-request.ts'
import { moment } from '../../../text/format.ts'
import { invitationsQuery, type Member, memberName, membersQuery, serviceUsersQuery } from '../people.ts'
import { RoleField } from '../role-field.tsx'

const member_queries = [membersQuery, serviceUsersQuery, invitationsQuery, meQuery]

type Props = { member: Member; on_done: () => void }

export function RoleForm({ member, on_done }: Props) {
  const { draft, field, props } = useForm({
    saved: { role: member.role },
    send: body => call('updateMember', { params: { user_id: member.user_id }, body }),
    refresh: member_queries,
    done: ({ role }) => `${memberName(member)} is ${role} now`,
    on_done,
  })
  return (
    <ApiForm
      {...props}
      label="Role"
      missing={draft.role === member.role ? 'Choose another role first' : null}
      submit="Change role"
    >
      <RoleField {...field('role')} />
    </ApiForm>
  )
}

/** Creates a link that signs the member in, and shows it once. */
export function SignInLink({ member, own, on_done }: Props & { own: boolean }) {
  const create = useRequest(() => call('createSignInLink', { params: { user_id: member.user_id } }))
  if (create.data) {
    return (
      <ShownOnce name="sign-in link" value={create.data.sign_in_link} on_done={on_done}>
        It signs {own ? 'you' : memberName(member)} in once, until{' '}
        {moment(create.data.sign_in_link_expires_at)}, and is not shown again. The service sends no mail
        {own ? '.' : ': hand it over yourself.'}
      </ShownOnce>
    )
  }
  return (
    <ApiForm label="Sign-in link" request={create} fields={[]} submit="Create sign-in link">
      <p className="text-muted">
        The person who opens the link is signed in as {own ? 'you' : memberName(member)}. Earlier links that
        were not used become void.
      </p>
    </ApiForm>
  )
}

type RemovalProps = { member: Member; own: boolean; on_close: () => void }

/** Removes a member. Who leaves continues in another organization: nothing of this one can be read then. */
export const Removal = ({ member, own, on_close }: RemovalProps) => (
  <ConfirmDialog
    title={own ? 'Leave the organization' : `Remove ${memberName(member)}`}
    action={own ? 'Leave' : member.kind === 'service' ? 'Remove service user' : 'Remove member'}
    send={() => call('removeMember', { params: { user_id: member.user_id } })}
    {...(own
      ? { on_done: () => location.assign('/') }
      : { refresh: member_queries, done: `${memberName(member)} was removed` })}
    on_close={on_close}
  >
    {own ? 'Your access ends at once.' : 'Access ends with the next request.'} Tokens for this organization
    are revoked, and open invitations from {own ? 'you' : 'this member'} become void. Runs stay.
  </ConfirmDialog>
)
