import { TextField } from '../../../components/form/api-form.tsx'
import { Field, Select, Switch } from '../../../ui/field.tsx'
import type { ModelDraft, Part } from './model-draft.ts'

const apis: Record<Exclude<ModelDraft['api'], ''>, string> = {
  'anthropic-messages': 'Anthropic Messages',
  'openai-responses': 'OpenAI Responses',
  'openai-chat': 'Chat Completions',
  'google-generate-content': 'Gemini generateContent',
}

/** Where a model is called: at its provider, or at an address with a key of its own. */
export function ModelAddress({ draft, set, problems, model }: Part) {
  return (
    <>
      <Field
        label="API"
        hint="With an API of its own, a model has its own address and key."
        problem={problems.api}
      >
        {props => (
          <Select
            {...props}
            value={draft.api}
            onChange={event => set({ api: event.target.value as ModelDraft['api'] })}
          >
            <option value="">That of its provider</option>
            {Object.entries(apis).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {draft.api !== '' && (
        <div className="space-y-4 border-line border-l-2 pl-4">
          <TextField
            label="Address"
            hint="Of the API, with its path. It must be public, unless the operator permits others."
            placeholder="https://models.example.org/v1"
            mono
            problem={problems.base_url}
            value={draft.base_url}
            on_change={base_url => set({ base_url })}
          />
          <TextField
            label="Name at the address"
            hint="Empty: what follows the provider in the id."
            mono
            problem={problems.name}
            value={draft.name}
            on_change={name => set({ name })}
          />
          <TextField
            label="Key"
            hint={
              model?.has_key
                ? 'Empty: the key stays. It is never shown.'
                : 'Empty: no key. It is never shown again.'
            }
            type="password"
            problem={problems.api_key}
            value={draft.api_key}
            on_change={api_key => set({ api_key })}
          />
          {model?.has_key && (
            <Switch
              label="Remove the key"
              checked={draft.remove_key}
              onChange={event => set({ remove_key: event.target.checked })}
            />
          )}
        </div>
      )}
    </>
  )
}
