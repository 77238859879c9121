import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { meQuery } from '../../../api/queries.ts'
import { ApiForm } from '../../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { ShownOnce } from '../../../components/form/shown-once.tsx'
import { moment } from '../../../text/format.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { notify } from '../../../ui/toast.ts'
import { invitationsQuery, type Member, memberName, membersQuery, serviceUsersQuery } from '../people.ts'
import { RoleField } from '../role-field.tsx'

/** What is done with a member. */
export type MemberAct = { kind: 'role' | 'link' | 'remove'; member: Member }

type Props = { act: MemberAct | null; own: boolean; on_close: () => void }

export function MemberDialogs({ act, own, on_close }: Props) {
  const name = act ? memberName(act.member) : ''
  return (
    <>
      <Dialog title={`Role of ${name}`} open={act?.kind === 'role'} on_close={on_close}>
        {act && <RoleForm member={act.member} on_done={on_close} />}
      </Dialog>
      <Dialog title={`Sign-in link for ${name}`} open={act?.kind === 'link'} on_close={on_close}>
        {act && <SignInLink member={act.member} own={own} on_done={on_close} />}
      </Dialog>
      {act && <Removal act={act} own={own} on_close={on_close} />}
    </>
  )
}

function useMembersChanged() {
  const queries = useQueryClient()
  return () =>
    Promise.all(
      [membersQuery, serviceUsersQuery, invitationsQuery, meQuery].map(({ queryKey }) =>
        queries.invalidateQueries({ queryKey }),
      ),
    )
}

function RoleForm({ member, on_done }: { member: Member; on_done: () => void }) {
  const changed = useMembersChanged()
  const [role, setRole] = useState(member.role)
  const save = useMutation({
    mutationFn: () => call('updateMember', { params: { user_id: member.user_id }, body: { role } }),
    onSuccess: async () => {
      await changed()
      notify(`${memberName(member)} is ${role} now`)
      on_done()
    },
  })
  return (
    <ApiForm
      label="Role"
      request={save}
      fields={['role']}
      missing={role === member.role ? 'Choose another role first' : null}
      submit="Change role"
      variant="primary"
    >
      <RoleField value={role} on_change={setRole} problem={fieldMessages(save.error).role} />
    </ApiForm>
  )
}

function SignInLink({ member, own, on_done }: { member: Member; own: boolean; on_done: () => void }) {
  const create = useMutation({
    mutationFn: () => call('createSignInLink', { params: { user_id: member.user_id } }),
  })
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
    <ApiForm label="Sign-in link" request={create} fields={[]} submit="Create sign-in link" variant="primary">
      <p className="text-muted">
        The person who opens the link is signed in as {own ? 'you' : memberName(member)}. Earlier links that
        were not used become void.
      </p>
    </ApiForm>
  )
}

function Removal({ act: { kind, member }, own, on_close }: Props & { act: MemberAct }) {
  const changed = useMembersChanged()
  const service = member.kind === 'service'
  const remove = useMutation({
    mutationFn: () => call('removeMember', { params: { user_id: member.user_id } }),
    onSuccess: async () => {
      // Nothing of this organization can be read from now on: the session continues with another one.
      if (own) return location.assign('/')
      await changed()
      notify(`${memberName(member)} was removed`)
      on_close()
    },
  })
  return (
    <ConfirmDialog
      title={own ? 'Leave the organization' : `Remove ${memberName(member)}`}
      action={own ? 'Leave' : service ? 'Remove service user' : 'Remove member'}
      request={remove}
      open={kind === 'remove'}
      on_close={on_close}
    >
      {own ? 'Your access ends at once.' : 'Access ends with the next request.'} Tokens for this organization
      are revoked, and open invitations from {own ? 'you' : 'this member'} become void. Runs stay.
    </ConfirmDialog>
  )
}
