import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { reasoning_efforts } from '../../../../../src/contract/reasoning-efforts.ts'
import { fieldMessages } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { visible } from '../../../text/visible.ts'
import { Field, Select, Switch } from '../../../ui/field.tsx'
import { notify } from '../../../ui/toast.ts'
import { ModelAddress } from './model-address.tsx'
import { draftOf, type ModelDraft, type Part, requestOf } from './model-draft.ts'
import { ModelPrice } from './model-price.tsx'
import { type Model, useModelsChanged } from './models-query.ts'

const fields = [
  ...['id', 'label', 'api', 'base_url', 'name', 'api_key', 'context_tokens', 'max_output_tokens'],
  ...['price.input', 'price.output', 'price.cached', 'price.cache_write', 'reasoning_effort', 'tool_family'],
]

/**
 * Adds a model (null), or changes what the organization knows of one. Empty fields are as the service knows
 * them.
 */
export function ModelForm({ model, on_done }: { model: Model | null; on_done: () => void }) {
  const changed = useModelsChanged()
  const [draft, setDraft] = useState(() => draftOf(model))
  const set = (change: Partial<ModelDraft>) => setDraft(old => ({ ...old, ...change }))
  const save = useMutation({
    mutationFn: () => call('setModel', { body: requestOf(draft) }),
    onSuccess: async ({ label }) => {
      await changed()
      notify(`${visible(label)} was saved`)
      on_done()
    },
  })
  const part = { draft, set, problems: fieldMessages(save.error), model }
  return (
    <ApiForm
      label="Model"
      request={save}
      fields={fields}
      missing={
        draft.id.trim() === ''
          ? 'Enter the id first'
          : draft.api !== '' && draft.base_url.trim() === ''
            ? 'Enter the address first'
            : null
      }
      submit={model ? 'Save' : 'Add model'}
      variant="primary"
    >
      {!model && (
        <TextField
          label="Id"
          hint="provider/model: the name that runs use."
          placeholder="acme/coder"
          mono
          problem={part.problems.id}
          value={draft.id}
          on_change={id => set({ id })}
        />
      )}
      <TextField
        label="Name to show"
        placeholder={model?.label ?? ''}
        problem={part.problems.label}
        value={draft.label}
        on_change={label => set({ label })}
      />
      <ModelAddress {...part} />
      <ModelPrice {...part} />
      <ModelBehavior {...part} />
    </ApiForm>
  )
}

function ModelBehavior({ draft, set, problems }: Part) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field
        label="Reasoning effort"
        hint="For runs without an effort of their own."
        problem={problems.reasoning_effort}
      >
        {props => (
          <Select
            {...props}
            value={draft.reasoning_effort}
            onChange={event =>
              set({ reasoning_effort: event.target.value as ModelDraft['reasoning_effort'] })
            }
          >
            <option value="">Default</option>
            <option value="provider">The provider decides</option>
            {reasoning_efforts.map(effort => (
              <option key={effort}>{effort}</option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Tools that change files" problem={problems.tool_family}>
        {props => (
          <Select
            {...props}
            value={draft.tool_family}
            onChange={event => set({ tool_family: event.target.value as ModelDraft['tool_family'] })}
          >
            <option value="">Default</option>
            <option value="edit">edit and write</option>
            <option value="apply_patch">apply_patch</option>
          </Select>
        )}
      </Field>
      <div className="sm:col-span-2">
        <Switch
          label="Send Claude's cache marks over chat completions, for gateways that pass them on"
          checked={draft.cache_marks}
          onChange={event => set({ cache_marks: event.target.checked })}
        />
      </div>
    </div>
  )
}
