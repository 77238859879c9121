import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { ApiForm, TextField } from '../form/api-form.tsx'

/** Creates an organization, of which the person becomes the ADMIN. */
export function NewOrganization({ on_created }: { on_created: (id: number) => void }) {
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: () => call('createOrganization', { body: { name } }),
    onSuccess: ({ id }) => on_created(id),
  })
  return (
    <ApiForm
      label="New organization"
      request={create}
      fields={['name']}
      missing={name.trim() === '' ? 'Enter a name first' : null}
      submit="Create organization"
      variant="primary"
    >
      <p className="text-muted">
        You become its ADMIN. It has members, repositories, models and limits of its own. Sign in again in
        other browsers to see it there.
      </p>
      <TextField label="Name" problem={fieldMessages(create.error).name} value={name} on_change={setName} />
    </ApiForm>
  )
}
