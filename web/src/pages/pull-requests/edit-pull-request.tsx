import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Pencil } from 'lucide-react'
import { useState } from 'react'
import type { PullRequest } from '../../../../src/contract/pull-requests/pull-requests.ts'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { pullRequestPageQuery } from '../../api/queries.ts'
import { ApiForm, TextField } from '../../components/form/api-form.tsx'
import { useReadOnlyReason } from '../../components/permission.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { notify } from '../../ui/toast.ts'

/** A button, and the form that it opens, to change title, description and base branch. */
export function EditPullRequest({ pull_request }: { pull_request: PullRequest }) {
  const [open, setOpen] = useState(false)
  const forbidden = useReadOnlyReason()
  const merged = pull_request.state === 'merged' ? 'It is merged' : null
  return (
    <>
      <Button reason={forbidden ?? merged} onClick={() => setOpen(true)}>
        <Pencil aria-hidden className="size-3.5" /> Edit
      </Button>
      <Dialog title="Edit pull request" open={open} on_close={() => setOpen(false)}>
        <EditForm pull_request={pull_request} on_done={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

type Draft = Pick<PullRequest, 'title' | 'body' | 'base_branch'>

function EditForm({ pull_request, on_done }: { pull_request: PullRequest; on_done: () => void }) {
  const queries = useQueryClient()
  const [touched, setTouched] = useState<Partial<Draft>>({})
  const now: Draft = { ...pull_request, ...touched }
  const set = (change: Partial<Draft>) => setTouched(old => ({ ...old, ...change }))
  const save = useMutation({
    mutationFn: async () => {
      const response = await call('editPullRequest', { params: { pr_id: pull_request.id }, body: touched })
      if (!response.success) throw new Error(response.error ?? 'The pull request could not be changed.')
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: pullRequestPageQuery(pull_request.id).queryKey })
      notify('Saved')
      on_done()
    },
  })
  const problems = fieldMessages(save.error)
  return (
    <ApiForm
      label="Edit pull request"
      request={save}
      fields={['title', 'body', 'base_branch']}
      changed={Object.keys(touched).length > 0}
      submit="Save"
      variant="primary"
    >
      <TextField
        label="Title"
        problem={problems.title}
        value={now.title}
        on_change={title => set({ title })}
      />
      <Field label="Description" hint="Markdown" problem={problems.body}>
        {props => (
          <TextArea
            {...props}
            rows={10}
            value={now.body}
            onChange={event => set({ body: event.target.value })}
          />
        )}
      </Field>
      <TextField
        label="Base branch"
        problem={problems.base_branch}
        mono
        value={now.base_branch}
        on_change={base_branch => set({ base_branch })}
      />
    </ApiForm>
  )
}
