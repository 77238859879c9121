import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { Result } from '../../../../src/contract/calls.ts'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { ApiForm, TextField } from '../../components/form/api-form.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Switch, TextArea } from '../../ui/field.tsx'
import { notify } from '../../ui/toast.ts'
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
  const queries = useQueryClient()
  const [typed, setTyped] = useState('')
  const [value, setValue] = useState('')
  const [chosen, setChosen] = useState<boolean | null>(null)
  const name = replaced ?? typed.trim()
  const known = items.find(item => item.name === name)
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (replaced !== null) box.current?.focus()
  }, [replaced])
  const save = useMutation({
    // An absent `for_agent` leaves what was chosen for an existing secret.
    mutationFn: () =>
      call('setRepositorySecret', {
        params: { repo_id, name },
        body: { value, for_agent: chosen ?? undefined },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: secretsQuery(repo_id).queryKey })
      setTyped('')
      setValue('')
      setChosen(null)
      notify('Saved')
      on_done()
    },
  })
  const problems = fieldMessages(save.error)
  return (
    <ApiForm
      label="Secret"
      request={save}
      fields={['path.name', 'value', 'for_agent']}
      missing={name === '' ? 'Enter a name first' : value === '' ? 'Enter a value first' : null}
      submit={known ? 'Replace value' : 'Add secret'}
      variant="primary"
      note={replaced !== null && <Button onClick={on_done}>Cancel</Button>}
    >
      {replaced === null && (
        <TextField
          label="Name"
          hint={
            known
              ? 'This secret exists: its value is replaced.'
              : 'Of an environment variable. GIT_TOKEN, with GIT_USERNAME if needed, signs in the git of the service.'
          }
          problem={problems['path.name']}
          placeholder="NPM_TOKEN"
          mono
          value={typed}
          on_change={setTyped}
        />
      )}
      <Field label="Value" hint="It is encrypted and never shown again." problem={problems.value}>
        {props => (
          <TextArea
            {...props}
            ref={box}
            rows={3}
            autoComplete="off"
            spellCheck={false}
            className="font-mono text-xs!"
            value={value}
            onChange={event => setValue(event.target.value)}
          />
        )}
      </Field>
      <div>
        <Switch
          label="Agents and checks receive it too"
          checked={chosen ?? known?.for_agent ?? false}
          onChange={event => setChosen(event.target.checked)}
        />
        <p className={`text-xs ${problems.for_agent ? 'text-bad' : 'text-faint'}`}>
          {problems.for_agent ??
            'An agent can use what it receives, and send it to every host that it may reach.'}
        </p>
      </div>
    </ApiForm>
  )
}
