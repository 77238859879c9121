import { reasoning_efforts } from '../../../../../src/contract/reasoning-efforts.ts'
import { call } from '../../../api/client.ts'
import { sameNames } from '../../../components/filters.tsx'
import { ApiForm, SelectField, SwitchField, TextField } from '../../../components/form/api-form.tsx'
import { useForm } from '../../../components/form/use-form.ts'
import { visible } from '../../../text/visible.ts'
import { ModelAddress } from './model-address.tsx'
import { draftOf, type Part, requestOf } from './model-draft.ts'
import { ModelPrice } from './model-price.tsx'
import { type Model, model_queries } from './models-query.ts'

/**
 * Adds a model (null), or changes what the organization knows of one. Empty fields are as the service knows
 * them.
 */
export function ModelForm({ model, on_done }: { model: Model | null; on_done: () => void }) {
  const { draft, field, props } = useForm({
    saved: draftOf(model),
    send: edited => call('setModel', { body: requestOf(edited) }),
    wire: {
      input: ['price.input'],
      output: ['price.output'],
      cached: ['price.cached'],
      cache_write: ['price.cache_write'],
    },
    refresh: model_queries,
    done: ({ label }) => `${visible(label)} was saved`,
    on_done,
  })
  const part = { draft, field, model }
  return (
    <ApiForm
      {...props}
      label="Model"
      missing={
        draft.id.trim() === ''
          ? 'Enter the id first'
          : draft.api !== '' && draft.base_url.trim() === ''
            ? 'Enter the address first'
            : null
      }
      submit={model ? 'Save' : 'Add model'}
    >
      {!model && (
        <TextField
          {...field('id')}
          label="Id"
          hint="provider/model: the name that runs use."
          placeholder="acme/coder"
          mono
        />
      )}
      <TextField {...field('label')} label="Name to show" placeholder={model?.label ?? ''} />
      <ModelAddress {...part} />
      <ModelPrice {...part} />
      <ModelBehavior {...part} />
    </ApiForm>
  )
}

const ModelBehavior = ({ field }: Part) => (
  <div className="grid gap-4 sm:grid-cols-2">
    <SelectField
      {...field('reasoning_effort')}
      label="Reasoning effort"
      hint="For runs without an effort of their own."
      options={[['', 'Default'], ['provider', 'The provider decides'], ...sameNames(reasoning_efforts)]}
    />
    <SelectField
      {...field('tool_family')}
      label="Tools that change files"
      options={[
        ['', 'Default'],
        ['edit', 'edit and write'],
        ['apply_patch', 'apply_patch'],
      ]}
    />
    <div className="sm:col-span-2">
      <SwitchField
        {...field('cache_marks')}
        label="Send Claude's cache marks over chat completions, for gateways that pass them on"
      />
    </div>
  </div>
)
