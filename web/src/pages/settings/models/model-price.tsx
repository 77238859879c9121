import { TextField } from '../../../components/form/api-form.tsx'
import type { Part } from './model-draft.ts'

/** Limits of a model, and what a million tokens cost. Without a price, no budget limits its runs. */
export function ModelPrice({ draft, set, problems, model }: Part) {
  const { price, context_tokens, max_output_tokens } = model ?? {
    price: null,
    context_tokens: null,
    max_output_tokens: null,
  }
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Context (tokens)"
          type="number"
          placeholder={String(context_tokens ?? '')}
          problem={problems.context_tokens}
          value={draft.context_tokens}
          on_change={text => set({ context_tokens: text })}
        />
        <TextField
          label="Longest response (tokens)"
          type="number"
          placeholder={String(max_output_tokens ?? '')}
          problem={problems.max_output_tokens}
          value={draft.max_output_tokens}
          on_change={text => set({ max_output_tokens: text })}
        />
      </div>
      <fieldset>
        <legend className="font-medium text-muted text-xs">Price in US dollars for a million tokens</legend>
        <p className="mt-0.5 mb-2 text-faint text-xs">
          Empty: as the service knows it. A budget cannot limit a model without a price.
        </p>
        <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
          <TextField
            label="Prompt"
            placeholder={price?.input}
            problem={problems['price.input']}
            value={draft.input}
            on_change={input => set({ input })}
          />
          <TextField
            label="Response"
            placeholder={price?.output}
            problem={problems['price.output']}
            value={draft.output}
            on_change={output => set({ output })}
          />
          <TextField
            label="Cached"
            placeholder={price?.cached}
            problem={problems['price.cached']}
            value={draft.cached}
            on_change={cached => set({ cached })}
          />
          <TextField
            label="Cache write"
            placeholder={price?.cache_write}
            problem={problems['price.cache_write']}
            value={draft.cache_write}
            on_change={cache_write => set({ cache_write })}
          />
        </div>
      </fieldset>
    </>
  )
}
