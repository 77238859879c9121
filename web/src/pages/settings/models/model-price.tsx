import { TextField } from '../../../components/form/api-form.tsx'
import type { Part } from './model-draft.ts'

/** Limits of a model, and what a million tokens cost. Without a price, no budget limits its runs. */
export const ModelPrice = ({ field, model }: Part) => (
  <>
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        {...field('context_tokens')}
        label="Context (tokens)"
        type="number"
        placeholder={String(model?.context_tokens ?? '')}
      />
      <TextField
        {...field('max_output_tokens')}
        label="Longest response (tokens)"
        type="number"
        placeholder={String(model?.max_output_tokens ?? '')}
      />
    </div>
    <fieldset>
      <legend className="font-medium text-muted text-xs">Price in US dollars for a million tokens</legend>
      <p className="mt-0.5 mb-2 text-faint text-xs">
        Empty: as the service knows it. A budget cannot limit a model without a price.
      </p>
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <TextField {...field('input')} label="Prompt" placeholder={model?.price?.input} />
        <TextField {...field('output')} label="Response" placeholder={model?.price?.output} />
        <TextField {...field('cached')} label="Cached" placeholder={model?.price?.cached} />
        <TextField {...field('cache_write')} label="Cache write" placeholder={model?.price?.cache_write} />
      </div>
    </fieldset>
  </>
)
