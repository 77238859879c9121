import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Bot, Plus } from 'lucide-react'
import { useState } from 'react'
import type { Result } from '../../../../../src/contract/calls.ts'
import { fieldMessages } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { Page } from '../../../components/page.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { useAdminReason } from '../../../components/permission.ts'
import { moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Button, buttonStyle } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Blank, Loading } from '../../../ui/notice.tsx'
import { type Column, Table } from '../../../ui/table.tsx'
import { notify } from '../../../ui/toast.ts'
import { membersQuery, type Role, serviceUsersQuery } from '../people.ts'
import { RoleField } from '../role-field.tsx'

type ServiceUser = Result<'listServiceUsers'>['items'][number]

/** Members that are programs: they never sign in, and have tokens. */
export function ServiceUsersPage() {
  const users = useQuery(serviceUsersQuery)
  const forbidden = useAdminReason('service users')
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<ServiceUser | null>(null)
  if (users.isError) return <PageProblem error={users.error} retry={() => users.refetch()} what="list" />
  const actions: Column<ServiceUser> = {
    name: '',
    cell: user => (
      <span className="flex justify-end gap-1">
        {forbidden === null && (
          <Link
            to="/settings/tokens"
            search={{ create_for: user.id }}
            className={buttonStyle('quiet')}
            aria-label={`Create token for ${visible(user.name)}`}
          >
            Create token
          </Link>
        )}
        <Button
          variant="quiet"
          reason={forbidden}
          aria-label={`Remove ${visible(user.name)}`}
          onClick={() => setRemoving(user)}
        >
          Remove
        </Button>
      </span>
    ),
  }
  return (
    <Page
      heading="Service users"
      note={users.data?.length}
      about="Members for programs, such as CI. They never sign in; what they do with a token is recorded in their name."
      actions={
        <Button variant="primary" reason={forbidden} onClick={() => setAdding(true)}>
          <Plus aria-hidden className="size-4" /> Create service user
        </Button>
      }
    >
      {!users.data && <Loading label="Loading the service users" />}
      {users.data?.length === 0 && (
        <Blank icon={<Bot />} title="No service users yet">
          Create one for each program, and a token with only the scopes and repositories that the program
          needs.
        </Blank>
      )}
      {users.data && users.data.length > 0 && (
        <Table
          label="Service users"
          columns={[...columns, actions]}
          rows={users.data}
          row_key={({ id }) => id}
        />
      )}
      <Dialog title="Create service user" open={adding} on_close={() => setAdding(false)}>
        <CreateForm on_done={() => setAdding(false)} />
      </Dialog>
      {removing && <Removal user={removing} on_close={() => setRemoving(null)} />}
    </Page>
  )
}

const columns: Column<ServiceUser>[] = [
  {
    name: 'Service user',
    main: true,
    cell: ({ name }) => <span className="font-medium">{visible(name)}</span>,
  },
  { name: 'Role', cell: ({ role }) => role },
  {
    name: 'Created',
    wide_only: true,
    cell: ({ created_at }) => (
      <time dateTime={created_at} className="text-muted">
        {moment(created_at)}
      </time>
    ),
  },
]

function useUsersChanged() {
  const queries = useQueryClient()
  return () =>
    Promise.all(
      [membersQuery, serviceUsersQuery].map(({ queryKey }) => queries.invalidateQueries({ queryKey })),
    )
}

function CreateForm({ on_done }: { on_done: () => void }) {
  const changed = useUsersChanged()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('MEMBER')
  const create = useMutation({
    mutationFn: () => call('createServiceUser', { body: { name, role } }),
    onSuccess: async () => {
      await changed()
      notify('The service user was created')
      on_done()
    },
  })
  const problems = fieldMessages(create.error)
  return (
    <ApiForm
      label="Create service user"
      request={create}
      fields={['name', 'role']}
      missing={name.trim() === '' ? 'Enter a name first' : null}
      submit="Create service user"
      variant="primary"
    >
      <TextField
        label="Name"
        placeholder="release bot"
        problem={problems.name}
        value={name}
        on_change={setName}
      />
      <RoleField value={role} on_change={setRole} problem={problems.role} />
    </ApiForm>
  )
}

function Removal({ user, on_close }: { user: ServiceUser; on_close: () => void }) {
  const changed = useUsersChanged()
  const remove = useMutation({
    mutationFn: () => call('deleteServiceUser', { params: { service_user_id: user.id } }),
    onSuccess: async () => {
      await changed()
      notify(`${visible(user.name)} was removed`)
      on_close()
    },
  })
  return (
    <ConfirmDialog
      title={`Remove ${visible(user.name)}`}
      action="Remove service user"
      request={remove}
      open
      on_close={on_close}
    >
      Its tokens are revoked: programs that use them get 401. Its runs stay.
    </ConfirmDialog>
  )
}
