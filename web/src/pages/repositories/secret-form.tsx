import { useEffect, useRef } from 'react'
import type { Result } from '../../../../src/contract/calls.ts'
import { call } from '../../api/client.ts'
import { ApiForm, TextAreaField, TextField } from '../../components/form/api-form.tsx'
import { useForm } from '../../components/form/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { Switch } from '../../ui/field.tsx'
import { secretsQuery } from './repository-queries.ts'

type Props = {
  repo_id: number
  items: Result<'listRepositorySecrets'>['items']
  /** The secret whose value is replaced; null: the form adds one. */
  replaced: string | null
  on_done: () => void
}

/** Sets a secret. Its value leaves the page with the request, and is never shown again. */
export function SecretForm({ repo_id, items, replaced, on_done }: Props) {
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (replaced !== null) box.current?.focus()
  }, [replaced])
  const { draft, field, props } = useForm({
    saved: { name: replaced ?? '', value: '', for_agent: null as boolean | null },
    // An absent `for_agent` leaves what was chosen for an existing secret.
    send: ({ name, value, for_agent }) =>
      call('setRepositorySecret', {
        params: { repo_id, name: name.trim() },
        body: { value, for_agent: for_agent ?? undefined },
      }),
    wire: { name: ['path.name'] },
    refresh: [secretsQuery(repo_id)],
    done: 'Saved',
    on_done,
  })
  const name = draft.name.trim()
  const known = items.find(item => item.name === name)
  const { problem, on_change } = field('for_agent')
  return (
    <ApiForm
      {...props}
      label="Secret"
      missing={name === '' ? 'Enter a name first' : draft.value === '' ? 'Enter a value first' : null}
      submit={known ? 'Replace value' : 'Add secret'}
      note={replaced !== null && <Button onClick={on_done}>Cancel</Button>}
    >
      {replaced === null && (
        <TextField
          {...field('name')}
          label="Name"
          hint={
            known
              ? 'This secret exists: its value is replaced.'
              : 'Of an environment variable. GIT_TOKEN, with GIT_USERNAME if needed, signs in the git of the service.'
          }
          placeholder="NPM_TOKEN"
          mono
        />
      )}
      <TextAreaField
        {...field('value')}
        label="Value"
        hint="It is encrypted and never shown again."
        ref={box}
        rows={3}
        code
      />
      <div>
        <Switch
          label="Agents and checks receive it too"
          checked={draft.for_agent ?? known?.for_agent ?? false}
          onChange={event => on_change(event.target.checked)}
        />
        <p className={`text-xs ${problem ? 'text-bad' : 'text-faint'}`}>
          {problem ?? 'An agent can use what it receives, and send it to every host that it may reach.'}
        </p>
      </div>
    </ApiForm>
  )
}
