import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { forgesQuery, repositoriesQuery } from '../../api/queries.ts'
import { forgeKinds } from '../../components/forges/forge-kinds.ts'
import { ApiForm, TextField } from '../../components/form/api-form.tsx'
import { useRepositoryReason } from '../../components/permission.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
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
      <Dialog title="Add repository" open={open} on_close={() => setOpen(false)}>
        <AddFrom />
      </Dialog>
    </>
  )
}

/** The choice between an address and the connected forges, if there are any. */
function AddFrom() {
  const connections = useQuery(forgesQuery).data ?? []
  const [chosen, setChosen] = useState('')
  const connection = connections.find(({ id }) => String(id) === chosen)
  return (
    <div className="space-y-4">
      {connections.length > 0 && (
        <Field label="From">
          {props => (
            <Select {...props} value={chosen} onChange={event => setChosen(event.target.value)}>
              <option value="">An address or path</option>
              {connections.map(({ id, kind, url }) => (
                <option key={id} value={id}>
                  {forgeKinds[kind].name}: {visible(url)}
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
      {connection ? <ForgeRepositories key={connection.id} connection={connection} /> : <AddForm />}
    </div>
  )
}

function AddForm() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [url, setUrl] = useState('')
  const [branch, setBranch] = useState('')
  const add = useMutation({
    mutationFn: () =>
      call('createRepository', { body: { url: url.trim(), default_branch: branch.trim() || null } }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: repositoriesQuery.queryKey })
      await navigate({ to: '/repositories/$repoId', params: { repoId: String(id) } })
    },
  })
  const problems = fieldMessages(add.error)
  return (
    <ApiForm
      label="Add repository"
      request={add}
      fields={['url', 'default_branch']}
      missing={url.trim() === '' ? 'Enter the address first' : null}
      submit="Add repository"
      variant="primary"
    >
      <TextField
        label="Address or path"
        hint="https or ssh, without a password. A local path only where the operator allows it."
        placeholder="https://github.com/owner/name.git"
        problem={problems.url}
        mono
        value={url}
        on_change={setUrl}
      />
      <TextField
        label="Base branch"
        hint="Where runs start. Empty: the default branch of the repository."
        problem={problems.default_branch}
        mono
        value={branch}
        on_change={setBranch}
      />
    </ApiForm>
  )
}
