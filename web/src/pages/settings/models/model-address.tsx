import { SelectField, SwitchField, TextField } from '../../../components/form/api-form.tsx'
import type { Part } from './model-draft.ts'

/** Where a model is called: at its provider, or at an address with a key of its own. */
export const ModelAddress = ({ draft, field, model }: Part) => (
  <>
    <SelectField
      {...field('api')}
      label="API"
      hint="With an API of its own, a model has its own address and key."
      options={[
        ['', 'That of its provider'],
        ['anthropic-messages', 'Anthropic Messages'],
        ['openai-responses', 'OpenAI Responses'],
        ['openai-chat', 'Chat Completions'],
        ['google-generate-content', 'Gemini generateContent'],
      ]}
    />
    {draft.api !== '' && (
      <div className="space-y-4 border-line border-l-2 pl-4">
        <TextField
          {...field('base_url')}
          label="Address"
          hint="Of the API, with its path. It must be public, unless the operator permits others."
          placeholder="https://models.example.org/v1"
          mono
        />
        <TextField
          {...field('name')}
          label="Name at the address"
          hint="Empty: what follows the provider in the id."
          mono
        />
        <TextField
          {...field('api_key')}
          label="Key"
          hint={
            model?.has_key
              ? 'Empty: the key stays. It is never shown.'
              : 'Empty: no key. It is never shown again.'
          }
          type="password"
        />
        {model?.has_key && <SwitchField {...field('remove_key')} label="Remove the key" />}
      </div>
    )}
  </>
)
