import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { repositoriesQuery } from '../../api/queries.ts'
import { ApiForm, TextField } from '../../components/api-form.tsx'
import { useRepositoryReason } from '../../components/permission.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'

/** A button, and the form that it opens, to add a repository by its address. */
export function AddRepository() {
  const [open, setOpen] = useState(false)
  const forbidden = useRepositoryReason()
  return (
    <>
      <Button variant="primary" reason={forbidden} onClick={() => setOpen(true)}>
        <Plus aria-hidden className="size-4" /> Add repository
      </Button>
      <Dialog title="Add repository" open={open} on_close={() => setOpen(false)}>
        <AddForm />
      </Dialog>
    </>
  )
}

function AddForm() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [url, setUrl] = useState('')
  const [branch, setBranch] = useState('')
  const add = useMutation({
    mutationFn: () => call('createRepository', { body: { url: url.trim(), default_branch: branch.trim() || null } }),
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
        label="Address"
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
