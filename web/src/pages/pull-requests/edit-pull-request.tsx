import { Pencil } from 'lucide-react'
import { useState } from 'react'
import type { PullRequest } from '../../../../src/contract/pull-requests/pull-requests.ts'
import { call } from '../../api/client.ts'
import { pullRequestPageQuery } from '../../api/queries.ts'
import { ApiForm, TextAreaField, TextField } from '../../components/form/api-form.tsx'
import { useForm } from '../../components/form/use-form.ts'
import { useReadOnlyReason } from '../../components/permission.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'

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
      {open && (
        <Dialog title="Edit pull request" on_close={() => setOpen(false)}>
          <EditForm pull_request={pull_request} on_done={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  )
}

function EditForm({ pull_request, on_done }: { pull_request: PullRequest; on_done: () => void }) {
  const { title, body, base_branch } = pull_request
  const { field, changed, props } = useForm({
    saved: { title, body, base_branch },
    send: async (_draft, touched) => {
      const response = await call('editPullRequest', { params: { pr_id: pull_request.id }, body: touched })
      if (!response.success) throw new Error(response.error ?? 'The pull request could not be changed.')
    },
    refresh: [pullRequestPageQuery(pull_request.id)],
    done: 'Saved',
    on_done,
  })
  return (
    <ApiForm {...props} label="Edit pull request" changed={changed} submit="Save">
      <TextField {...field('title')} label="Title" />
      <TextAreaField {...field('body')} label="Description" hint="Markdown" rows={10} />
      <TextField {...field('base_branch')} label="Base branch" mono />
    </ApiForm>
  )
}
