import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { forgesQuery, repositoriesQuery } from '../../api/queries.ts'
import { forgeKinds } from '../../components/forges/forge-kinds.ts'
import { ApiForm, SelectField, TextField } from '../../components/form/api-form.tsx'
import { useForm } from '../../components/form/use-form.ts'
import { useRepositoryReason } from '../../components/permission.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ForgeRepositories } from './forge-repositories.tsx'

/** A button, and the dialog that it opens, to add a repository by its address or from a connected forge. */
export function AddRepository() {
  const [open, setOpen] = useState(false)
  const forbidden = useRepositoryReason()
  return (
    <>
      <Button variant="primary" reason={forbidden} onClick={() => setOpen(true)}>
        <Plus aria-hidden className="size-4" /> Add repository
      </Button>
      {open && (
        <Dialog title="Add repository" on_close={() => setOpen(false)}>
          <AddFrom />
        </Dialog>
      )}
    </>
  )
}

/** The choice between an address and the connected forges, if there are any. */
function AddFrom() {
  const connections = useQuery(forgesQuery).data ?? []
  const [chosen, setChosen] = useState<number | null>(null)
  const connection = connections.find(({ id }) => id === chosen)
  return (
    <div className="space-y-4">
      {connections.length > 0 && (
        <SelectField<number | null>
          label="From"
          value={chosen}
          on_change={setChosen}
          options={[
            [null, 'An address or path'],
            ...connections.map(({ id, kind, url }) => [id, `${forgeKinds[kind].name}: ${url}`] as const),
          ]}
        />
      )}
      {connection ? <ForgeRepositories key={connection.id} connection={connection} /> : <AddForm />}
    </div>
  )
}

function AddForm() {
  const navigate = useNavigate()
  const { draft, field, props } = useForm({
    saved: { url: '', default_branch: '' },
    send: ({ url, default_branch }) =>
      call('createRepository', { body: { url: url.trim(), default_branch: default_branch.trim() || null } }),
    refresh: [repositoriesQuery],
    on_done: ({ id }) => navigate({ to: '/repositories/$repoId', params: { repoId: String(id) } }),
  })
  return (
    <ApiForm
      {...props}
      label="Add repository"
      missing={draft.url.trim() === '' ? 'Enter the address first' : null}
      submit="Add repository"
    >
      <TextField
        {...field('url')}
        label="Address or path"
        hint="https or ssh, without a password. A local path only where the operator allows it."
        placeholder="https://github.com/owner/name.git"
        mono
      />
      <TextField
        {...field('default_branch')}
        label="Base branch"
        hint="Where runs start. Empty: the default branch of the repository."
        mono
      />
    </ApiForm>
  )
}
