import { call } from '../../api/client.ts'
import { ApiForm, TextField } from '../form/api-form.tsx'
import { useForm } from '../form/use-form.ts'

/** Creates an organization, of which the person becomes the ADMIN. */
export function NewOrganization({ on_created }: { on_created: (id: number) => void }) {
  const { draft, field, props } = useForm({
    saved: { name: '' },
    send: body => call('createOrganization', { body }),
    on_done: ({ id }) => on_created(id),
  })
  return (
    <ApiForm
      {...props}
      label="New organization"
      missing={draft.name.trim() === '' ? 'Enter a name first' : null}
      submit="Create organization"
    >
      <p className="text-muted">
        You become its ADMIN. It has members, repositories, models and limits of its own. Sign in again in
        other browsers to see it there.
      </p>
      <TextField {...field('name')} label="Name" />
    </ApiForm>
  )
}
