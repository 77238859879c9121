import { Link } from '@tanstack/react-router'
import { Bot } from 'lucide-react'
import type { Result } from '../../../../../src/contract/calls.ts'
import { call } from '../../../api/client.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { useForm } from '../../../components/form/use-form.ts'
import { useAdminReason } from '../../../components/permission.ts'
import { momentColumn, ResourcePage } from '../../../components/resource-page.tsx'
import { visible } from '../../../text/visible.ts'
import { buttonStyle } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Blank } from '../../../ui/notice.tsx'
import type { Column } from '../../../ui/table.tsx'
import { membersQuery, type Role, serviceUsersQuery } from '../people.ts'
import { RoleField } from '../role-field.tsx'

type ServiceUser = Result<'listServiceUsers'>['items'][number]

/** Members that are programs: they never sign in, and have tokens. */
export function ServiceUsersPage() {
  const forbidden = useAdminReason('service users')
  return (
    <ResourcePage
      what="service users"
      about="Members for programs, such as CI. They never sign in; what they do with a token is recorded in their name."
      query={serviceUsersQuery}
      columns={columns}
      row_key={({ id }) => id}
      name={({ name }) => visible(name)}
      add={{
        text: 'Create service user',
        reason: forbidden,
        dialog: close => (
          <Dialog title="Create service user" on_close={close}>
            <CreateForm on_done={close} />
          </Dialog>
        ),
      }}
      actions={user => [
        forbidden === null && (
          <Link
            key="token"
            to="/settings/tokens"
            search={{ create_for: user.id }}
            className={buttonStyle('quiet')}
            aria-label={`Create token for ${visible(user.name)}`}
          >
            Create token
          </Link>
        ),
        {
          text: 'Remove',
          reason: forbidden,
          dialog: close => <Removal user={user} on_close={close} />,
        },
      ]}
      empty={
        <Blank icon={<Bot />} title="No service users yet">
          Create one for each program, and a token with only the scopes and repositories that the program
          needs.
        </Blank>
      }
    />
  )
}

const columns: Column<ServiceUser>[] = [
  {
    name: 'Service user',
    main: true,
    cell: ({ name }) => <span className="font-medium">{visible(name)}</span>,
  },
  { name: 'Role', cell: ({ role }) => role },
  momentColumn('Created', ({ created_at }) => created_at),
]

function CreateForm({ on_done }: { on_done: () => void }) {
  const { draft, field, props } = useForm({
    saved: { name: '', role: 'MEMBER' as Role },
    send: body => call('createServiceUser', { body }),
    refresh: [membersQuery, serviceUsersQuery],
    done: 'The service user was created',
    on_done,
  })
  return (
    <ApiForm
      {...props}
      label="Create service user"
      missing={draft.name.trim() === '' ? 'Enter a name first' : null}
      submit="Create service user"
    >
      <TextField {...field('name')} label="Name" placeholder="release bot" />
      <RoleField {...field('role')} />
    </ApiForm>
  )
}

const Removal = ({ user, on_close }: { user: ServiceUser; on_close: () => void }) => (
  <ConfirmDialog
    title={`Remove ${visible(user.name)}`}
    action="Remove service user"
    send={() => call('deleteServiceUser', { params: { service_user_id: user.id } })}
    refresh={[membersQuery, serviceUsersQuery]}
    done={`${visible(user.name)} was removed`}
    on_close={on_close}
  >
    Its tokens are revoked: programs that use them get 401. Its runs stay.
  </ConfirmDialog>
)
